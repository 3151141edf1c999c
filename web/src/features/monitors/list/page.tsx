/** The dashboard: all of the team's monitors, updated live. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useMay } from "../../../shared/api/session";
import { useKeys } from "../../../shared/lib/keys";
import { useOnline } from "../../../shared/lib/online";
import { useFirstTexts } from "../../../shared/i18n";
import { Link, pathWith, useLocation, useSearchParams } from "../../../shared/router";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Chevron, Plus, Screen } from "../../../shared/ui/icons";
import { later } from "../../../shared/ui/later";
import { LazyMenu } from "../../../shared/ui/lazy-menu";
import { Loading } from "../../../shared/ui/loading";
import { May } from "../../../shared/ui/may";
import { Page, useTitle } from "../../../shared/ui/page";
import { monitorsQuery, states, types, type MonitorRow, type State, type Type } from "../data";
import { useLive } from "../live-updates";
import { StatusMark } from "../status";
import { Picker, SearchField } from "./filter-fields";
import styles from "./list.module.css";
import { MonitorList } from "./monitor-list";
import { RegionWarning } from "./region-warning";
import { countStates, Ranks, searchOf, shown, sorts, tagsOf, viewOf, withAll, type Sort, type View } from "./view";

// Not needed on most first screens.
const Bulk = lazy(later(() => import("./bulk")));
const Unnotified = lazy(later(() => import("./unnotified")));
const Onboarding = lazy(later(() => import("./onboarding")));
const ViewsMenu = lazy(later(() => import("./views-menu")));

export function Component() {
  const t = useFirstTexts();
  const { data, error, isPending, refetch } = useQuery(monitorsQuery);
  const down = useMemo(() => (data ? countStates(data).down : 0), [data]);
  const edits = useMay("edit");
  useTitle(down > 0 ? `(${down}) ${t.monitors.title}` : t.monitors.title);
  if (!data) {
    return <Page title={t.monitors.title}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (data.length > 0) return <Dashboard list={data} failed={error} />;
  if (!edits) {
    return (
      <Page title={t.monitors.title}>
        <EmptyState title={t.monitors.none}>
          <p>{t.monitors.noneHelp}</p>
        </EmptyState>
      </Page>
    );
  }
  return (
    <Suspense
      fallback={
        <Page title={t.monitors.title}>
          <Loading />
        </Page>
      }
    >
      <Onboarding />
    </Suspense>
  );
}

function Dashboard({ list, failed }: { list: MonitorRow[]; failed: Error | null }) {
  const t = useFirstTexts();
  const [search, setSearch] = useSearchParams();
  const view = useMemo(() => viewOf(search), [search]);
  const change = useCallback(
    (next: Partial<View>) => setSearch((old) => searchOf({ ...viewOf(old), ...next }), { replace: true }),
    [setSearch],
  );
  const deferred = useDeferredValue(view);
  const ranks = useRanks(list);
  const rows = useMemo(() => shown(list, deferred, ranks), [list, deferred, ranks]);
  const counts = useMemo(() => countStates(list), [list]);
  const tags = useMemo(() => tagsOf(list), [list]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const box = useRef<HTMLInputElement>(null);
  const chosen = useMemo(() => list.filter((monitor) => selected.has(monitor.monitorid)), [list, selected]);
  const wanted = (useLocation().state as { search?: boolean } | null)?.search === true;
  useKeys({ "/": () => box.current?.focus(), ...(selected.size > 0 && { Escape: () => setSelected(new Set()) }) });
  // The search key was pressed on another page.
  useEffect(() => {
    if (wanted) box.current?.focus();
  }, [wanted]);

  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{t.monitors.title}</h1>
        <LiveMark />
        <div className={styles.grow} />
        <Button
          component={Link}
          to={pathWith("/wallboard", search.toString())}
          variant="default"
          leftSection={<Screen />}
          className={styles.new}
        >
          {t.nav.wallboard}
        </Button>
        <May do="edit">
          <Button component={Link} to="/monitor/new" leftSection={<Plus />} className={styles.new}>
            {t.nav.newMonitor}
          </Button>
        </May>
      </header>
      {failed && <ErrorNotice error={failed} />}
      <RegionWarning />
      <Suspense>{counts.down > 0 && <Unnotified list={list} />}</Suspense>
      <Summary counts={counts} chosen={view.state} choose={(state) => change({ state })} />
      <div className={styles.tools}>
        <SearchField
          ref={box}
          className={styles.search}
          value={view.q}
          onChange={(event) => change({ q: event.currentTarget.value })}
          onKeyDown={(event) => event.key === "Escape" && box.current?.blur()}
          placeholder={t.monitors.search}
          aria-label={t.monitors.search}
        />
        <Picker
          className={styles.pick}
          aria-label={t.monitors.type}
          options={[{ value: "", label: t.monitors.anyType }, ...types.map((type) => ({ value: type, label: t.monitors.types[type] }))]}
          value={view.type ?? ""}
          onChange={(event) => change({ type: (event.currentTarget.value || null) as Type | null })}
        />
        {tags.length > 0 && (
          <Picker
            className={styles.pick}
            aria-label={t.monitors.tag}
            options={[{ value: "", label: t.monitors.anyTag }, ...tags.map((tag) => ({ value: tag, label: tag }))]}
            value={view.tag ?? ""}
            onChange={(event) => change({ tag: event.currentTarget.value || null })}
          />
        )}
        <Picker
          className={styles.pick}
          aria-label={t.monitors.sort}
          options={sorts.map((sort) => ({ value: sort, label: t.monitors.sorts[sort] }))}
          value={view.sort}
          onChange={(event) => change({ sort: event.currentTarget.value as Sort, reversed: false })}
        />
        {tags.length > 0 && (
          <label className={styles.toggle}>
            <input type="checkbox" checked={view.grouped} onChange={(event) => change({ grouped: event.currentTarget.checked })} />
            {t.monitors.byTag}
          </label>
        )}
        <LazyMenu
          button={(props) => (
            <Button variant="default" rightSection={<Chevron />} {...props}>
              {t.monitors.views}
            </Button>
          )}
          menu={(button) => <ViewsMenu search={searchOf(view).toString()} button={button} />}
        />
      </div>
      <div className={styles.listing}>
        <May do="edit">
          {chosen.length > 0 && (
            <Suspense>
              <Bulk
                list={chosen}
                hidden={chosen.length - rows.filter((row) => selected.has(row.monitorid)).length}
                all={() => setSelected(new Set(rows.map((row) => row.monitorid)))}
                total={rows.length}
                clear={() => setSelected(new Set())}
                deselect={(ids) => setSelected((old) => withAll(old, ids, false))}
              />
            </Suspense>
          )}
        </May>
        {rows.length === 0 ? (
          <EmptyState title={t.monitors.noMatch}>
            <Button variant="default" onClick={() => setSearch(new URLSearchParams(), { replace: true })}>
              {t.monitors.showAll}
            </Button>
          </EmptyState>
        ) : (
          <MonitorList rows={rows} view={deferred} change={change} selected={selected} select={setSelected} />
        )}
      </div>
    </div>
  );
}

function useRanks(list: MonitorRow[]): Ranks {
  const [previous, setPrevious] = useState(() => Ranks.of(list));
  const ranks = useMemo(() => Ranks.of(list, previous), [list, previous]);
  if (ranks !== previous) setPrevious(ranks);
  return ranks;
}

function LiveMark() {
  const t = useFirstTexts();
  // The event stream notices a lost network late; the browser notices at once.
  const live = [useLive(), useOnline()].every(Boolean);
  return (
    <span className={styles.live} data-live={live || undefined} title={live ? t.monitors.liveHelp : t.monitors.notLiveHelp}>
      {live ? t.monitors.live : t.monitors.notLive}
    </span>
  );
}

interface SummaryProps {
  counts: Record<State, number>;
  chosen: State | null;
  choose: (state: State | null) => void;
}

/** The number of monitors in each state; each is a filter. */
function Summary({ counts, chosen, choose }: SummaryProps) {
  const t = useFirstTexts();
  // Few teams ever have monitors that cannot be checked.
  const listed = (state: State) => state !== "blocked" || counts.blocked > 0 || chosen === "blocked";
  return (
    <div className={styles.summary} role="group" aria-label={t.monitors.byStatus}>
      {states.filter(listed).map((state) => (
        <button
          key={state}
          type="button"
          className={styles.count}
          data-state={state}
          data-some={counts[state] > 0 || undefined}
          aria-pressed={chosen === state}
          onClick={() => choose(chosen === state ? null : state)}
        >
          <StatusMark state={state} size={16} />
          <span className={styles.number}>{counts[state].toLocaleString()}</span>
          <span className={styles.word}>{t.monitors.states[state]}</span>
        </button>
      ))}
    </div>
  );
}
