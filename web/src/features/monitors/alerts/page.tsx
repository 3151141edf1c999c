/** The alerts of the team by status, newest first, with filters; several can be responded to at once. */
import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { severities } from "../../../shared/api/alerting-sets";
import { monitorsQuery } from "../../../shared/api/monitors";
import type { Severity } from "../../../shared/api/closed-sets";
import { useMay } from "../../../shared/api/session";
import { useKeys } from "../../../shared/lib/keys";
import { useTexts } from "../../../shared/i18n";
import { Link, pathWith, useSearchParams } from "../../../shared/router";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Globe, Watch, Wrench } from "../../../shared/ui/icons";
import { LinkTabs } from "../../../shared/ui/link-tabs";
import { LoadMore } from "../../../shared/ui/load-more";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import type { Alert } from "../data";
import { Picker, SearchField } from "../list/filter-fields";
import { tagsOf, toggled } from "../list/view";
import { Reports } from "../report-menu";
import styles from "./alerts.module.css";
import { Bulk } from "./bulk";
import { alertsQuery, type Outcome } from "./data";
import { AlertRows } from "./rows";
import { SkippedNotice, type SkippedAlert } from "./skipped";
import { isActionable, isFiltered, searchOf, tabNames, viewOf, type AlertView } from "./view";

/** How many are shown at first, and after "Show older". */
const LIMITS = [200, 500, 1000] as const;
/** Long enough that typing does not send a request for every character. */
const DEBOUNCE = 250;

export function Component() {
  const t = useTexts();
  const [search] = useSearchParams();
  const view = viewOf(search);
  return (
    <Page
      title={t.nav.alerts}
      lead={t.alerts.lead}
      actions={
        <>
          {/* The navigation of small screens has no room for these. */}
          <Button variant="default" component={Link} to="/maintenance" leftSection={<Wrench />}>
            {t.nav.maintenance}
          </Button>
          <Button variant="default" component={Link} to="/oncall" leftSection={<Watch />}>
            {t.nav.oncall}
          </Button>
          <Button variant="default" component={Link} to="/statuspages" leftSection={<Globe />}>
            {t.nav.statuspages}
          </Button>
          <Reports />
        </>
      }
    >
      {view.digest === null ? <Tabs view={view} /> : <OfMessage />}
      <Filters view={view} />
      {/* A selection ends with its tab. */}
      <List key={view.tab} view={view} />
    </Page>
  );
}

function Tabs({ view }: { view: AlertView }) {
  const { alerts } = useTexts();
  const addressOf = (tab: AlertView["tab"]) => pathWith("/alerts", searchOf({ ...view, tab }).toString());
  return (
    <LinkTabs
      label={alerts.tabsLabel}
      tabs={tabNames.map((tab) => [addressOf(tab), alerts.tabs[tab]] as const)}
      current={addressOf(view.tab)}
    />
  );
}

/** The alerts that one message was about. */
function OfMessage() {
  const { alerts } = useTexts();
  return (
    <p role="status">
      {alerts.ofMessage} <Link to="/alerts">{alerts.showAll}</Link>
    </p>
  );
}

function Filters({ view }: { view: AlertView }) {
  const { alerts } = useTexts();
  const [, setSearch] = useSearchParams();
  const box = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => box.current?.focus() });
  const { data: monitors } = useQuery(monitorsQuery);
  const tags = tagsOf(monitors ?? []);
  const change = (part: Partial<AlertView>) => setSearch((old) => searchOf({ ...viewOf(old), ...part }), { replace: true });
  const known = view.tag === null || tags.includes(view.tag) ? tags : [view.tag, ...tags];
  return (
    <div className={styles.filters}>
      <SearchField
        ref={box}
        className={styles.search}
        aria-label={alerts.search}
        placeholder={alerts.search}
        value={view.q}
        onKeyDown={({ key }) => key === "Escape" && box.current?.blur()}
        onChange={({ currentTarget }) => change({ q: currentTarget.value })}
      />
      <Picker
        aria-label={alerts.severity}
        options={[{ value: "", label: alerts.anySeverity }, ...severities.map((value) => ({ value, label: alerts.severities[value] }))]}
        value={view.severity ?? ""}
        onChange={({ currentTarget }) => change({ severity: (currentTarget.value || null) as Severity | null })}
      />
      {known.length > 0 && (
        <Picker
          aria-label={alerts.anyTag}
          options={[{ value: "", label: alerts.anyTag }, ...known.map((tag) => ({ value: tag, label: tag }))]}
          value={view.tag ?? ""}
          onChange={({ currentTarget }) => change({ tag: currentTarget.value || null })}
        />
      )}
      <Picker
        aria-label={alerts.assignee}
        options={[
          { value: "", label: `${alerts.assignee}: ${alerts.anybody}` },
          { value: "me", label: `${alerts.assignee}: ${alerts.me}` },
        ]}
        value={view.mine ? "me" : ""}
        onChange={({ currentTarget }) => change({ mine: currentTarget.value === "me" })}
      />
    </div>
  );
}

function List({ view }: { view: AlertView }) {
  const responds = useMay("respond");
  const [limit, setLimit] = useState<number>(LIMITS[0]);
  const [q] = useDebouncedValue(view.q, DEBOUNCE);
  const { data, error, isPending, refetch } = useQuery(alertsQuery({ ...view, q }, limit));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [skipped, setSkipped] = useState<SkippedAlert[]>([]);
  useKeys(selected.size > 0 ? { Escape: () => setSelected(new Set()) } : {});
  if (isPending) return <Loading />;
  if (!data) return <ErrorNotice error={error} retry={() => void refetch()} />;
  // An alert that has left the list is no longer selected.
  const chosen = data.filter(({ alertid }) => selected.has(alertid));
  const lasting = data.filter(isActionable);
  const finish = (outcome: Outcome) => {
    setSelected(new Set());
    setSkipped(named(outcome, data));
  };
  return (
    <>
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {skipped.length > 0 && <SkippedNotice skipped={skipped} dismiss={() => setSkipped([])} />}
      <div className={styles.listing}>
        <Panel flush>
          {data.length === 0 ? (
            <None view={view} />
          ) : (
            <AlertRows
              alerts={data}
              named
              selection={responds && lasting.length > 0 ? { selected, toggle: (id) => setSelected(toggled(selected, id)) } : null}
            />
          )}
          <LoadMore shown={data.length} limit={limit} steps={LIMITS} show={setLimit} />
        </Panel>
        {chosen.length > 0 && (
          <Bulk
            list={chosen}
            total={lasting.length}
            all={() => setSelected(new Set(lasting.map(({ alertid }) => alertid)))}
            clear={() => setSelected(new Set())}
            finish={finish}
          />
        )}
      </div>
    </>
  );
}

function None({ view }: { view: AlertView }) {
  const t = useTexts();
  if (!isFiltered(view)) {
    return (
      <EmptyState title={t.alerts.noneOf[view.tab]}>
        <p>{t.alerts.noneOfHelp[view.tab]}</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={t.alerts.noMatch}>
      <Button
        variant="default"
        component={Link}
        to={pathWith("/alerts", searchOf({ ...view, severity: null, tag: null, mine: false, q: "", digest: null }).toString())}
      >
        {t.monitors.showAll}
      </Button>
    </EmptyState>
  );
}

/** The skipped alerts with the names of their monitors. */
function named({ skipped }: Outcome, alerts: Alert[]): SkippedAlert[] {
  return skipped.map(({ alertid, code }) => ({
    alertid,
    isOver: code === "alert_over",
    name: alerts.find((alert) => alert.alertid === alertid)?.monitor.name ?? alertid,
  }));
}
