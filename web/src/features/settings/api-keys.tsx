/** API key pairs: made here, shown once, removed here. */
import { Button } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine } from "../../shared/ui/copy-line";
import { Dialog } from "../../shared/ui/dialog";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { Plus, Trash } from "../../shared/ui/icons";
import { ButtonRow, RequiredField, FormLayout } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { Ago } from "../../shared/ui/time";
import styles from "./settings.module.css";

type Key = components["schemas"]["ListedKey"];
/** Both keys of a new pair: a name that is changed shows none. */
type Made = { apikey: string; enckey: string };

const keys = queryOptions({
  queryKey: ["apikeys"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/integrations/apikeys", { signal })).then((answer) => answer.apikeys),
});

export function ApiKeys() {
  const t = useTexts();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(keys);
  const [making, setMaking] = useState(false);
  const [removing, setRemoving] = useState<Key | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: keys.queryKey });
  return (
    <Panel
      title={t.integrations.title}
      lead={
        <>
          {t.integrations.lead} <a href="/api/docs/">{t.integrations.docs}</a>
        </>
      }
      actions={
        <Button variant="default" leftSection={<Plus />} onClick={() => setMaking(true)} className={styles.headButton}>
          {t.integrations.make}
        </Button>
      }
    >
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data?.length === 0 && <p className={styles.quiet}>{t.integrations.none}</p>}
      {data && data.length > 0 && (
        <ul className={styles.rows}>
          {data.map((key) => (
            <li key={key.apikeyid}>
              <div className={styles.words}>
                <strong>{key.name}</strong>
                <span className={styles.quiet}>
                  <code>{key.prefix}…</code> · {t.integrations.made} <Ago at={key.created} /> · {t.integrations.used}{" "}
                  <Ago at={key.last_used} />
                </span>
              </div>
              <Button
                variant="subtle"
                color="red"
                size="xs"
                leftSection={<Trash />}
                aria-label={t.integrations.removeLabel(key.name)}
                onClick={() => setRemoving(key)}
              >
                {t.common.remove}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {making && <Making close={() => setMaking(false)} saved={renew} />}
      {removing && (
        <Confirm
          title={t.integrations.removeTitle(removing.name)}
          action={t.common.remove}
          close={() => setRemoving(null)}
          run={async () => {
            const path = { apikeyid: removing.apikeyid };
            await unwrap(DELETE("/api/v1/integrations/apikey/{apikeyid}/delete", { params: { path } }));
            await renew();
          }}
        >
          {t.integrations.removeHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function Making({ close, saved }: { close: () => void; saved: () => Promise<void> }) {
  const t = useTexts();
  const [made, setMade] = useState<Made | null>(null);
  const form = useForm({ name: "" }, async (body) => {
    const { apikey = "", enckey = "" } = await unwrap(POST("/api/v1/integrations/apikey/save", { body }));
    setMade({ apikey, enckey });
    await saved();
  });
  return (
    <Dialog
      title={made ? t.integrations.madeTitle(form.values.name) : t.integrations.make}
      close={close}
      size={made ? "lg" : "md"}
      // What is shown only once goes when its button says so, and not by a slip.
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      withCloseButton={!made}
    >
      {made ? (
        <div className={styles.form}>
          <p>{t.integrations.once}</p>
          <CopyLine label="X-API-Key" value={made.apikey} />
          <CopyLine label="X-Enc-Key" value={made.enckey} />
          <CopyLine label={t.integrations.curl} value={curl(made)} wrap />
          <ButtonRow>
            <Button onClick={close}>{t.integrations.kept}</Button>
          </ButtonRow>
        </div>
      ) : (
        <FormLayout form={form} action={t.integrations.make} cancel={close}>
          <RequiredField
            form={form}
            field="name"
            label={t.integrations.name}
            description={t.integrations.nameHelp}
            autoComplete="off"
            data-autofocus
          />
        </FormLayout>
      )}
    </Dialog>
  );
}

function curl({ apikey, enckey }: Made): string {
  return [`curl ${window.location.origin}/api/v1/monitors`, `-H "X-API-Key: ${apikey}"`, `-H "X-Enc-Key: ${enckey}"`].join(" \\\n  ");
}
