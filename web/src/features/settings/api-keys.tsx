/** API keys: create, show once, remove. */
import { Button, NativeSelect, TagsInput } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { useTexts } from "../../shared/i18n";
import { useNow } from "../../shared/lib/now";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine } from "../../shared/ui/copy-line";
import { Dialog } from "../../shared/ui/dialog";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { Plus, Trash } from "../../shared/ui/icons";
import { ButtonRow, RequiredField, FormLayout } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { filterText } from "../../shared/ui/monitor-filter";
import { Ago, Day } from "../../shared/ui/time";
import styles from "./settings.module.css";

type Key = components["schemas"]["ListedKey"];
type Scope = Key["scope"];
type NewKey = { name: string; scope: Scope; expires: string; tags: string[] };
/** Both keys of a new pair, which are returned only once. */
type CreatedKey = { apikey: string; enckey: string };

/** There is nothing yet that a key for the audit log could read. */
const SCOPES: readonly Scope[] = ["full", "editor", "responder", "viewer", "push"];
const DAYS = [7, 30, 90, 365];

const apiKeysQuery = queryOptions({
  queryKey: ["apikeys"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/integrations/apikeys", { signal })).then((answer) => answer.apikeys),
});

export function ApiKeys() {
  const t = useTexts();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(apiKeysQuery);
  const now = useNow();
  const [creating, setCreating] = useState(false);
  const [removing, setRemoving] = useState<Key | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: apiKeysQuery.queryKey });
  return (
    <Panel
      id="api-keys"
      title={t.apiKeys.title}
      lead={
        <>
          {t.apiKeys.lead} <a href="/api/docs/">{t.apiKeys.docs}</a>
        </>
      }
      actions={
        <Button variant="default" leftSection={<Plus />} onClick={() => setCreating(true)} className={styles.headButton}>
          {t.apiKeys.new}
        </Button>
      }
    >
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data?.length === 0 && <p className={styles.quiet}>{t.apiKeys.none}</p>}
      {data && data.length > 0 && (
        <ul className={styles.rows}>
          {data.map((key) => (
            <li key={key.apikeyid}>
              <div className={styles.words}>
                <strong>{key.name}</strong>
                <span className={styles.quiet}>
                  <code>{key.prefix}…</code> · {t.apiKeys.scopes[key.scope]}
                  {key.monitor_filter && ` (${filterText(t, key.monitor_filter)})`} · {t.apiKeys.created} <Ago at={key.created} /> ·{" "}
                  {key.last_used ? (
                    <>
                      {t.apiKeys.lastUsed} <Ago at={key.last_used} />
                    </>
                  ) : (
                    t.apiKeys.neverUsed
                  )}
                  {key.expires && (
                    <>
                      {" · "}
                      {Date.parse(key.expires) > now ? t.apiKeys.expiresAt : t.apiKeys.expired} <Day at={key.expires} />
                    </>
                  )}
                </span>
              </div>
              <Button
                variant="subtle"
                color="red"
                size="xs"
                leftSection={<Trash />}
                aria-label={t.apiKeys.removeLabel(key.name)}
                onClick={() => setRemoving(key)}
              >
                {t.common.remove}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {creating && <CreateDialog close={() => setCreating(false)} saved={renew} />}
      {removing && (
        <Confirm
          title={t.apiKeys.removeTitle(removing.name)}
          action={t.common.remove}
          close={() => setRemoving(null)}
          run={async () => {
            const path = { apikeyid: removing.apikeyid };
            await unwrap(DELETE("/api/v1/integrations/apikey/{apikeyid}/delete", { params: { path } }));
            await renew();
          }}
        >
          {t.apiKeys.removeHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function CreateDialog({ close, saved }: { close: () => void; saved: () => Promise<void> }) {
  const t = useTexts();
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const form = useForm<NewKey>({ name: "", scope: "full", expires: "", tags: [] }, async ({ name, scope, expires, tags }) => {
    const limited = scope !== "full" && tags.length > 0;
    const body = { name, scope, ...(expires && { expires }), ...(limited && { tags }) };
    const { apikey = "", enckey = "" } = await unwrap(POST("/api/v1/integrations/apikey/save", { body }));
    setCreated({ apikey, enckey });
    await saved();
  });
  return (
    <Dialog
      title={created ? t.apiKeys.createdTitle(form.values.name) : t.apiKeys.new}
      close={close}
      size={created ? "lg" : "md"}
      // The keys are shown only once, so the dialog does not close by accident.
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? (
        <div className={styles.form}>
          <p>{t.apiKeys.once}</p>
          <CopyLine label="X-API-Key" value={created.apikey} />
          <CopyLine label="X-Enc-Key" value={created.enckey} />
          <CopyLine label={t.apiKeys.curl} value={curl(created)} wrap />
          <ButtonRow>
            <Button onClick={close}>{t.apiKeys.saved}</Button>
          </ButtonRow>
        </div>
      ) : (
        <FormLayout form={form} action={t.apiKeys.create} cancel={close}>
          <RequiredField
            form={form}
            field="name"
            label={t.apiKeys.name}
            description={t.apiKeys.nameHelp}
            autoComplete="off"
            data-autofocus
          />
          <NativeSelect
            name="scope"
            label={t.apiKeys.scope}
            description={t.apiKeys.scopeHelp}
            error={form.errors["scope"]}
            data={SCOPES.map((scope) => ({ value: scope, label: t.apiKeys.scopes[scope] }))}
            value={form.values.scope}
            onChange={(event) => form.set("scope", event.currentTarget.value as Scope)}
          />
          {form.values.scope !== "full" && (
            <TagsInput
              name="tags"
              label={t.monitorFilter.tags}
              description={t.monitorFilter.tagsHelp}
              error={form.errors["tags"]}
              maxTags={20}
              value={form.values.tags}
              onChange={(tags) => form.set("tags", tags)}
            />
          )}
          <NativeSelect
            name="expires"
            label={t.apiKeys.expires}
            error={form.errors["expires"]}
            data={[{ value: "", label: t.apiKeys.never }, ...DAYS.map((days) => ({ value: `${days}`, label: t.apiKeys.inDays(days) }))]}
            value={form.values.expires}
            onChange={(event) => form.set("expires", event.currentTarget.value)}
          />
        </FormLayout>
      )}
    </Dialog>
  );
}

function curl({ apikey, enckey }: CreatedKey): string {
  return [`curl ${window.location.origin}/api/v1/monitors`, `-H "X-API-Key: ${apikey}"`, `-H "X-Enc-Key: ${enckey}"`].join(" \\\n  ");
}
