/** Notifiers whose messages wait, and retrying them at once. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { useErrorMessage } from "../../shared/ui/error-message";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { LoadMore } from "../../shared/ui/load-more";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { Ago } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import styles from "./admin.module.css";
import { deliveriesQuery, retry, type Stuck } from "./data";

const LIMITS = [50, 250, 1000] as const;

export function Deliveries() {
  const { admin } = useTexts();
  const [limit, setLimit] = useState<number>(LIMITS[0]);
  const { data, error, refetch } = useQuery(deliveriesQuery(limit));
  return (
    <Panel title={admin.stuck} lead={admin.stuckLead} actions={<Retry label={admin.retryAll} />}>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className={styles.quiet}>{admin.nothingStuck}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((stuck) => (
            <Row key={`${stuck.groupid} ${stuck.notifierid}`} stuck={stuck} />
          ))}
        </ul>
      )}
      {data && <LoadMore shown={data.length} limit={limit} steps={LIMITS} show={setLimit} />}
    </Panel>
  );
}

function Row({ stuck: { groupname, notifierid, type, waiting, oldest, failing_since } }: { stuck: Stuck }) {
  const { admin } = useTexts();
  return (
    <li className={styles.stuck}>
      <span className={styles.words}>
        <span>
          <b>{groupname}</b> {failing_since && <Badge tone="down">{admin.failing}</Badge>}
        </span>
        <span className={styles.quiet}>
          {admin.stuckLine(type, waiting)}, {admin.oldest} <Ago at={oldest} />
        </span>
      </span>
      <Retry label={admin.retry} notifierid={notifierid} />
    </li>
  );
}

function Retry({ label, notifierid }: { label: string; notifierid?: string }) {
  const { admin } = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      showToast(admin.retried(await retry(client, notifierid)));
    } catch (error) {
      showToast(errorMessage(error), true);
    }
    setBusy(false);
  };
  return (
    <Button variant="default" loading={busy} onClick={() => void run()}>
      {label}
    </Button>
  );
}
