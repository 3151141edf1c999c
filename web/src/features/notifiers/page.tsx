/** The list of notifiers. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { monitorsQuery } from "../../shared/api/monitors";
import { describeNotifier } from "../../shared/api/notifiers";
import { useMay } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { EmptyState } from "../../shared/ui/empty-state";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Plus } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { Page, Panel } from "../../shared/ui/page";
import { Badge } from "../../shared/ui/badge";
import { Moment } from "../../shared/ui/time";
import { REFETCH_INTERVAL, notifiersQuery, offReason, type Notifier } from "./data";
import { HealthBadge, NotifierMark } from "./kind";
import styles from "./notifiers.module.css";

export function Component() {
  const t = useTexts();
  const { data, error, isPending, refetch } = useQuery({ ...notifiersQuery, refetchInterval: REFETCH_INTERVAL });
  const links = useLinks();
  const edits = useMay("edit");
  const make = edits && (
    <Button component={Link} to="/notifier/new" leftSection={<Plus />}>
      {t.notifiers.new}
    </Button>
  );
  return (
    <Page title={t.notifiers.title} lead={t.notifiers.lead} narrow actions={data && data.length > 0 ? make : undefined}>
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && (
        <Panel>
          <EmptyState title={t.notifiers.none}>
            {edits && <p className={styles.emptyWords}>{t.notifiers.noneHelp}</p>}
            {make}
          </EmptyState>
        </Panel>
      )}
      {data && data.length > 0 && (
        <ul className={styles.list}>
          {data
            .toSorted((a, b) => a.name.localeCompare(b.name))
            .map((notifier) => (
              <Row key={notifier.notifierid} notifier={notifier} links={links?.get(notifier.notifierid) ?? (links && 0)} />
            ))}
        </ul>
      )}
    </Page>
  );
}

/** How many monitors use each notifier; undefined until they are loaded. */
function useLinks(): ReadonlyMap<string, number> | undefined {
  const { data } = useQuery(monitorsQuery);
  return useMemo(() => {
    if (!data) return undefined;
    const counts = new Map<string, number>();
    for (const id of data.flatMap((monitor) => monitor.notifiers)) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }, [data]);
}

function Row({ notifier, links }: { notifier: Notifier; links: number | undefined }) {
  const t = useTexts();
  const { health } = notifier;
  return (
    <li className={styles.row} data-off={!notifier.isactive || undefined}>
      <NotifierMark notifier={notifier} />
      <span className={styles.names}>
        <Link to={`/notifier/${notifier.notifierid}`}>{notifier.name}</Link>
        <span className={styles.receiver}>{describeNotifier(notifier, t.notifiers.kinds)}</span>
        {!notifier.isactive && <span className={styles.reason}>{offReason(notifier, t)}</span>}
        {health.state === "failing" && (
          <span className={styles.failing}>
            {health.since && (
              <>
                {t.notifiers.since} <Moment at={health.since} />
                {": "}
              </>
            )}
            {health.error}
          </span>
        )}
      </span>
      <span className={styles.links}>{links === undefined ? "" : t.notifiers.links(links)}</span>
      <span className={styles.badges}>
        {notifier.isdefault && <Badge tone="accent">{t.notifiers.isDefault}</Badge>}
        <HealthBadge notifier={notifier} />
      </span>
    </li>
  );
}
