/** Push messages to this browser, and the list of the user's browsers that receive them. */
import { Button, Switch } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { useMay } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { useErrorMessage } from "../../shared/ui/error-message";
import { ErrorNotice, FormError } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { Ago } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import { failureOf, obstacle, pushQuery, remove, turnOn, type Browser, type PushState } from "./push";
import { parseUserAgent } from "./user-agent";
import styles from "./settings.module.css";

interface Props {
  /** Adds the notifier that sends to the user's browsers to the contacts, unless it is one of them. */
  addContact: (notifierid: string) => Promise<void>;
  /** Whether this notifier is one of the contacts. */
  isContact: (notifierid: string) => boolean;
}

export function PushPanel(props: Props) {
  const { contacts } = useTexts();
  const { data, error, refetch } = useQuery(pushQuery);
  return (
    <Panel id="push" title={contacts.push.title} lead={contacts.push.lead}>
      {!data && (error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />)}
      {data && <Push state={data} {...props} />}
    </Panel>
  );
}

function Push({ state: { key, browsers, notifierid, mine }, addContact, isContact }: Props & { state: PushState }) {
  const { contacts } = useTexts();
  const { push } = contacts;
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const mayTest = useMay("respond");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const hindered = obstacle();
  const run = async (work: () => Promise<string>) => {
    setBusy(true);
    setFault(null);
    try {
      showToast(await work());
    } catch (error) {
      const failure = failureOf(error);
      setFault(failure ? push[failure] : errorMessage(error));
    } finally {
      await client.invalidateQueries({ queryKey: pushQuery.queryKey });
      setBusy(false);
    }
  };
  const change = (on: boolean) =>
    run(async () => {
      if (on) await addContact(await turnOn(key));
      else if (mine !== null) await remove(mine, true);
      return on ? push.turnedOn : push.turnedOff;
    });
  const test = () =>
    run(async () => {
      await unwrap(POST("/api/v1/notifier/test", { body: { notifierid } }));
      return push.tested;
    });
  const isUseless = notifierid !== null && browsers.length === 0 && isContact(notifierid);
  return (
    <div className={styles.form}>
      <Switch
        label={push.on}
        checked={mine !== null}
        disabled={busy || (hindered !== null && mine === null)}
        onChange={({ currentTarget }) => void change(currentTarget.checked)}
      />
      {hindered && mine === null && <p className={styles.quiet}>{push[hindered]}</p>}
      <FormError text={fault ?? (isUseless ? push.none : null)} />
      {browsers.length > 0 && (
        <ul className={styles.rows}>
          {browsers.map((one) => (
            <Row
              key={one.subscriptionid}
              browser={one}
              isMine={one.subscriptionid === mine}
              busy={busy}
              remove={() =>
                void run(async () => {
                  await remove(one.subscriptionid, one.subscriptionid === mine);
                  return push.removed;
                })
              }
            />
          ))}
        </ul>
      )}
      {mayTest && browsers.length > 0 && notifierid !== null && (
        <div className={styles.contactButtons}>
          <Button variant="default" disabled={busy} onClick={() => void test()}>
            {push.test}
          </Button>
        </div>
      )}
    </div>
  );
}

function Row({ browser, isMine, busy, remove: onRemove }: { browser: Browser; isMine: boolean; busy: boolean; remove: () => void }) {
  const t = useTexts();
  const { push } = t.contacts;
  const { browser: name, system } = parseUserAgent(browser.agent);
  const what = name === "" ? t.settings.unknownAgent : t.settings.session(name, system);
  return (
    <li>
      <div className={styles.words}>
        <strong title={browser.agent}>{what}</strong>
        <span className={styles.quiet}>
          {browser.service} · {browser.last_used ? push.used : push.never} {browser.last_used && <Ago at={browser.last_used} />}
        </span>
      </div>
      {isMine && <Badge tone="accent">{push.thisOne}</Badge>}
      <Button variant="subtle" color="red" size="xs" disabled={busy} aria-label={push.removeLabel(what)} onClick={onRemove}>
        {t.common.remove}
      </Button>
    </li>
  );
}
