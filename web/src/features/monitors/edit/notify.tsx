/** The step after the first monitor: who should be notified? Also for a monitor that has no notifiers yet. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { use, useState } from "react";
import type { OfferedKind } from "../../../shared/api/closed-sets";
import { isNotFound } from "../../../shared/api/error";
import { createAccountNotifier, describeNotifier, notifiersQuery, useAccountNotifier, type Notifier } from "../../../shared/api/notifiers";
import { useMe } from "../../../shared/api/session";
import { useTexts } from "../../../shared/i18n";
import { NotifierDialogContext } from "../../../shared/lib/notifier-dialog";
import { useNavigate, useParams } from "../../../shared/router";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Mail } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { NotFound } from "../../../shared/ui/not-found";
import { Page, Panel } from "../../../shared/ui/page";
import { showToast } from "../../../shared/ui/toast";
import { monitorQuery, save, type Monitor } from "../data";
import styles from "./edit.module.css";

export function Component() {
  const t = useTexts();
  const { id = "" } = useParams();
  const stored = useQuery(monitorQuery(id));
  const known = useQuery(notifiersQuery);
  const error = stored.error ?? known.error;
  if (isNotFound(stored.error)) return <NotFound instead={["/", t.nav.monitors]} />;
  return (
    <Page title={t.notifyStep.title} lead={stored.data && t.notifyStep.lead(stored.data.name)} narrow>
      {stored.data && known.data ? (
        <Choices stored={stored.data} known={known.data} />
      ) : error ? (
        <ErrorNotice error={error} retry={() => void Promise.all([stored.refetch(), known.refetch()])} />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function Choices({ stored, known }: { stored: Monitor; known: readonly Notifier[] }) {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const errorMessage = useErrorMessage();
  const dialog = use(NotifierDialogContext);
  const [creating, setCreating] = useState<OfferedKind | null>(null);
  const [linked, setLinked] = useState(false);
  const [busy, setBusy] = useState(false);
  const { email } = useMe();
  const own = useAccountNotifier();
  const others = known.filter((notifier) => !own.offered || notifier !== own.stored);
  const leave = () => void navigate(`/monitor/${stored.monitorid}`, { replace: true });
  const link = async ({ notifierid, name, account }: Notifier) => {
    const ids = stored.notifiers.map((other) => other.notifierid);
    await save(client, { monitorid: stored.monitorid, notifiers: [...ids, notifierid] });
    showToast(account && !account.email_verified ? t.notifyStep.verify(account.email) : t.notifyStep.done(name));
  };
  const emailMe = async () => {
    setBusy(true);
    try {
      await link(own.stored ?? (await createAccountNotifier(client, known.length === 0)));
      leave();
    } catch (error) {
      showToast(errorMessage(error), true);
      setBusy(false);
    }
  };
  const run = (notifier: Notifier, then: () => void) => {
    link(notifier)
      .then(then)
      .catch((error: unknown) => showToast(errorMessage(error), true));
  };
  // The dialog may still show a secret, so the page stays until it is closed.
  const close = () => (linked ? leave() : setCreating(null));
  return (
    <>
      {own.offered && (
        <Panel title={t.notifyStep.own}>
          <div className={styles.choices}>
            <Button leftSection={<Mail />} loading={busy} onClick={() => void emailMe()}>
              {t.notifyStep.email(email)}
            </Button>
          </div>
        </Panel>
      )}
      {others.length > 0 && (
        <Panel title={t.notifyStep.existing}>
          <div className={styles.choices}>
            {others.map((notifier) => (
              <Button key={notifier.notifierid} variant="default" onClick={() => run(notifier, leave)}>
                {notifier.name} · {describeNotifier(notifier, t.notifiers.kinds)}
              </Button>
            ))}
          </div>
        </Panel>
      )}
      <Panel title={t.notifyStep.create} lead={t.notifyStep.createHelp}>
        <div className={styles.choices}>
          {(Object.keys(t.notifierKinds.about) as OfferedKind[])
            .filter((kind) => kind !== "account")
            .map((kind) => (
              <Button key={kind} variant="default" onClick={() => setCreating(kind)}>
                {t.notifiers.kinds[kind]}
              </Button>
            ))}
        </div>
      </Panel>
      <div>
        <Button variant="subtle" onClick={leave}>
          {t.notifyStep.skip}
        </Button>
      </div>
      {creating && dialog({ kind: creating, isdefault: known.length === 0, close, created: (made) => run(made, () => setLinked(true)) })}
    </>
  );
}
