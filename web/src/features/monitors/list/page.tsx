/** The dashboard: everything the team watches, live. */
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useNavigate, useSearchParams } from "react-router";
import { useKeys } from "../../../shared/lib/keys";
import { useOnline } from "../../../shared/lib/online";
import { useTexts } from "../../../shared/i18n";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Plus, Search } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Page, useTitle } from "../../../shared/ui/page";
import { monitors, states, types, type MonitorRow, type State, type Type } from "../data";
import { useLive } from "../live-updates";
import { StatusMark } from "../status";
import styles from "./list.module.css";
import { GroupHeader, GROUP_HEADER_HEIGHT } from "./group-header";
import { RegionWarning } from "./region-warning";
import { Row, ROW_HEIGHT, TWO_LINE_ROW_HEIGHT } from "./row";
import { countStates, groupsOf, linesOf, Ranks, searchOf, shown, sorts, tagsOf, viewOf, type Sort, type View } from "./view";

/** Where one line has no room for a name beside the figures; list.module.css folds the row at the same width. */
const NARROW = "(max-width: 1000px)";

// Neither is there on most first screens.
const Bulk = lazy(() => import("./bulk"));
const Onboarding = lazy(() => import("./onboarding"));

export function Component() {
  const t = useTexts();
  const { data, error, isPending, refetch } = useQuery(monitors);
  const down = useMemo(() => (data ? countStates(data).down : 0), [data]);
  useTitle(down > 0 ? `(${down}) ${t.monitors.title}` : t.monitors.title);
  if (!data) {
    return <Page title={t.monitors.title}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (data.length > 0) return <Dashboard list={data} failed={error} />;
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
  const t = useTexts();
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
  // Who pressed the key elsewhere wants to search here.
  useEffect(() => {
    if (wanted) box.current?.focus();
  }, [wanted]);

  const toggle = useCallback((id: string) => {
    setSelected((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);

  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{t.monitors.title}</h1>
        <LiveMark />
        <div className={styles.grow} />
        <Button component={Link} to="/monitor/new" leftSection={<Plus />} className={styles.new}>
          {t.nav.newMonitor}
        </Button>
      </header>
      {failed && <ErrorNotice error={failed} />}
      <RegionWarning />
      <Summary counts={counts} chosen={view.state} choose={(state) => change({ state })} />
      <div className={styles.tools}>
        <TextInput
          ref={box}
          className={styles.search}
          value={view.q}
          onChange={(event) => change({ q: event.currentTarget.value })}
          onKeyDown={(event) => event.key === "Escape" && box.current?.blur()}
          placeholder={t.monitors.search}
          aria-label={t.monitors.search}
          leftSection={<Search />}
          rightSection={<kbd className={styles.hint}>/</kbd>}
          type="search"
        />
        <NativeSelect
          className={styles.pick}
          aria-label={t.monitors.type}
          data={[{ value: "", label: t.monitors.anyType }, ...types.map((type) => ({ value: type, label: t.monitors.types[type] }))]}
          value={view.type ?? ""}
          onChange={(event) => change({ type: (event.currentTarget.value || null) as Type | null })}
        />
        {tags.length > 0 && (
          <NativeSelect
            className={styles.pick}
            aria-label={t.monitors.tag}
            data={[{ value: "", label: t.monitors.anyTag }, ...tags]}
            value={view.tag ?? ""}
            onChange={(event) => change({ tag: event.currentTarget.value || null })}
          />
        )}
        <NativeSelect
          className={styles.pick}
          aria-label={t.monitors.sort}
          data={sorts.map((sort) => ({ value: sort, label: t.monitors.sorts[sort] }))}
          value={view.sort}
          onChange={(event) => change({ sort: event.currentTarget.value as Sort })}
        />
        {tags.length > 0 && (
          <label className={styles.toggle}>
            <input type="checkbox" checked={view.grouped} onChange={(event) => change({ grouped: event.currentTarget.checked })} />
            {t.monitors.byTag}
          </label>
        )}
      </div>
      {chosen.length > 0 && (
        <Suspense>
          <Bulk
            list={chosen}
            hidden={chosen.length - rows.filter((row) => selected.has(row.monitorid)).length}
            all={() => setSelected(new Set(rows.map((row) => row.monitorid)))}
            total={rows.length}
            select={(ids) => setSelected(new Set(ids))}
          />
        </Suspense>
      )}
      {rows.length === 0 ? (
        <EmptyState title={t.monitors.noMatch}>
          <Button variant="default" onClick={() => setSearch(new URLSearchParams(), { replace: true })}>
            {t.monitors.showAll}
          </Button>
        </EmptyState>
      ) : (
        <Rows rows={rows} grouped={deferred.grouped} selected={selected} toggle={toggle} />
      )}
    </div>
  );
}

function useRanks(list: MonitorRow[]): Ranks {
  const [kept, keep] = useState(() => Ranks.of(list));
  const ranks = useMemo(() => Ranks.of(list, kept), [list, kept]);
  if (ranks !== kept) keep(ranks);
  return ranks;
}

function LiveMark() {
  const t = useTexts();
  // The stream notices a lost network late; the browser knows at once.
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

/** How many are how; each number is a filter. */
function Summary({ counts, chosen, choose }: SummaryProps) {
  const t = useTexts();
  return (
    <div className={styles.summary} role="group" aria-label={t.monitors.byStatus}>
      {states.map((state) => (
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

interface RowsProps {
  rows: MonitorRow[];
  grouped: boolean;
  selected: ReadonlySet<string>;
  toggle: (id: string) => void;
}

/** The line that the keys reached last, for whoever comes back from its monitor. */
let reached: string | null = null;

/** Only the lines in sight exist; the rest is empty space of the right height. */
function Rows({ rows, grouped, selected, toggle }: RowsProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  const [current, setCurrent] = useState(reached);
  useEffect(() => {
    reached = current;
  }, [current]);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => (grouped ? groupsOf(rows, closed) : linesOf(rows)), [rows, grouped, closed]);
  useLayoutEffect(() => {
    const measure = () => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const height = narrow ? TWO_LINE_ROW_HEIGHT : ROW_HEIGHT;
  const virtual = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (lines[index] && "group" in lines[index] ? GROUP_HEADER_HEIGHT : height),
    overscan: 8,
    scrollMargin: top,
    getItemKey: (index) => lines[index]?.key ?? index,
  });
  // Heads and rows differ in height, and which line is which changes.
  useLayoutEffect(() => virtual.measure(), [virtual, grouped, closed, height]);
  const place = current === null ? -1 : lines.findIndex((line) => line.key === current);
  const at = lines[place];
  const monitor = at && "monitor" in at ? at.monitor.monitorid : null;
  /** Without a place yet, the keys begin with what is in sight. */
  const start = () => virtual.getVirtualItems().find((item) => item.start >= window.scrollY)?.index ?? 0;
  const move = (by: 1 | -1) => {
    for (let next = place < 0 ? start() : place + by; next >= 0 && next < lines.length; next += by) {
      const line = lines[next];
      if (!line || "group" in line) continue;
      virtual.scrollToIndex(next, { align: "auto" });
      setCurrent(line.key);
      return;
    }
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => monitor !== null && toggle(monitor),
    Enter: () => monitor !== null && void navigate(`/monitor/${monitor}`),
  });
  // The row that the keys reached also takes the focus, for screen readers.
  useEffect(() => {
    if (current === null) return;
    const frame = requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-line="${CSS.escape(current)}"] a`)?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [current]);
  const fold = (key: string) =>
    setClosed((old) => {
      const next = new Set(old);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  return (
    <div className={styles.table}>
      <div className={styles.columns} aria-hidden="true">
        <span />
        <span />
        <span>{t.monitors.columns.name}</span>
        <span className={styles.tagsColumn}>{t.monitors.columns.tags}</span>
        <span className={styles.barsColumn}>{t.monitors.columns.beats}</span>
        <span className={`${styles.right ?? ""} ${styles.uptime ?? ""}`}>
          <span>{t.monitors.columns.uptime}</span>
          <span>24 h / 30 d</span>
        </span>
        <span className={styles.right}>{t.monitors.columns.load}</span>
        <span className={`${styles.right ?? ""} ${styles.checkColumn ?? ""}`}>{t.monitors.columns.check}</span>
      </div>
      <ul ref={list} className={styles.rows} style={{ height: virtual.getTotalSize() }} aria-label={t.monitors.title}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (!line) return null;
          const start = item.start - top;
          return "group" in line ? (
            <GroupHeader key={item.key} group={line.group} top={start} fold={() => fold(line.key)} />
          ) : (
            <Row
              key={item.key}
              line={line.key}
              monitor={line.monitor}
              top={start}
              height={height}
              place={item.index + 1}
              total={lines.length}
              selected={selected.has(line.monitor.monitorid)}
              current={line.key === current}
              toggle={toggle}
            />
          );
        })}
      </ul>
    </div>
  );
}
