/** The user's sessions with their method and team, each with a button that ends it. */
import { Button } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DELETE, GET, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { logOut } from "../../shared/api/session";
import { teamsQuery } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Out } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { Ago } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import { useErrorMessage } from "../../shared/ui/error-message";
import { parseUserAgent } from "./user-agent";
import styles from "./settings.module.css";

type Session = components["schemas"]["ListedSession"];

const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/sessions", { signal })).then((answer) => answer.sessions),
});

export function Sessions() {
  const t = useTexts();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(sessionsQuery);
  const [confirming, setConfirming] = useState(false);
  return (
    <Panel
      id="sessions"
      title={t.settings.sessions}
      lead={t.settings.sessionsLead}
      actions={
        <Button variant="default" className={styles.headButton} onClick={() => setConfirming(true)}>
          {t.nav.logOutAll}
        </Button>
      }
    >
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <ul className={styles.rows}>
          {data
            .toSorted((a, b) => Number(b.current) - Number(a.current) || b.last_used.localeCompare(a.last_used))
            .map((session) => (
              <Row key={session.sessionid} session={session} />
            ))}
        </ul>
      )}
      {confirming && (
        <Confirm
          title={t.settings.logOutAllTitle}
          action={t.nav.logOutAll}
          close={() => setConfirming(false)}
          run={() => logOut(client, true)}
        >
          {t.settings.logOutAllHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function Row({ session }: { session: Session }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  // A later version may know other methods.
  const methods: Record<string, string> & { other: string } = t.settings.methods;
  const teams = useQuery(teamsQuery).data ?? [];
  const team = teams.length > 1 ? teams.find(({ groupid }) => groupid === session.groupid) : undefined;
  const { browser, system } = parseUserAgent(session.agent);
  const what = browser === "" ? t.settings.unknownAgent : t.settings.session(browser, system);
  const end = async () => {
    setBusy(true);
    try {
      await unwrap(DELETE("/api/v1/session/{sessionid}/delete", { params: { path: { sessionid: session.sessionid } } }));
      showToast(t.settings.sessionEnded);
    } catch (cause) {
      showToast(errorMessage(cause), true);
    } finally {
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      setBusy(false);
    }
  };
  return (
    <li>
      <div className={styles.words}>
        <strong title={session.agent}>{what}</strong>
        <span className={styles.quiet}>
          {methods[session.method] ?? methods.other}
          {team && ` · ${team.name}`} · {session.address} · {t.settings.sessionUsed} <Ago at={session.last_used} />
        </span>
      </div>
      {session.current ? (
        <Badge tone="accent">{t.settings.thisOne}</Badge>
      ) : (
        <Button
          variant="subtle"
          color="red"
          size="xs"
          leftSection={<Out />}
          loading={busy}
          aria-label={t.settings.endSessionLabel(what)}
          onClick={() => void end()}
        >
          {t.settings.endSession}
        </Button>
      )}
    </li>
  );
}
