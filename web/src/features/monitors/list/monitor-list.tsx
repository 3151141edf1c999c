/** The list of monitors. It is virtualized: only the lines near the viewport are rendered. */
import { useMediaQuery } from "@mantine/hooks";
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type Dispatch,
  type RefObject,
  type SetStateAction,
} from "react";
import { useMay } from "../../../shared/api/session";
import { useNavigate } from "../../../shared/router";
import { useKeys } from "../../../shared/lib/keys";
import { useFirstTexts } from "../../../shared/i18n";
import type { MonitorRow } from "../data";
import { ColumnHeaders } from "./column-headers";
import { GROUP_HEADER_HEIGHT, GroupHeader } from "./group-header";
import styles from "./list.module.css";
import { Row, ROW_HEIGHT, TWO_LINE_ROW_HEIGHT } from "./row";
import { lineAt, reveal, topsOf, useVisibleLines } from "./visible-lines";
import { between, groupsOf, linesOf, toggled, withAll, type Line, type View } from "./view";

/** Where a row needs two lines; list.module.css has the same width. */
const NARROW = "(max-width: 1020px)";

interface Props {
  rows: MonitorRow[];
  view: View;
  change: (next: Partial<View>) => void;
  selected: ReadonlySet<string>;
  select: Dispatch<SetStateAction<ReadonlySet<string>>>;
}

/** A table: the headers are its first row, and `aria-rowcount` includes the lines that are not rendered. */
export function MonitorList({ rows, view, change, selected, select }: Props) {
  const t = useFirstTexts();
  const { grouped } = view;
  const list = useRef<HTMLDivElement>(null);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => (grouped ? groupsOf(rows, collapsed) : linesOf(rows)), [rows, grouped, collapsed]);
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const height = narrow ? TWO_LINE_ROW_HEIGHT : ROW_HEIGHT;
  const top = useDocumentTop(list);
  const tops = useMemo(() => topsOf(lines.map((line) => ("group" in line ? GROUP_HEADER_HEIGHT : height))), [lines, height]);
  const visible = useVisibleLines(tops, top);
  const pick = usePick(lines, select);
  const edits = useMay("edit");
  const responds = useMay("respond");
  const current = useCursor(lines, tops, top, edits ? pick : null);
  const picked = useMemo(() => pickedOf(rows, selected), [rows, selected]);
  const ids = () => rows.map(({ monitorid }) => monitorid);
  return (
    <div
      className={styles.table}
      role="table"
      aria-label={t.monitors.title}
      aria-rowcount={lines.length + 1}
      data-selectable={edits || undefined}
      data-actions={responds || undefined}
    >
      <div role="rowgroup">
        <ColumnHeaders view={view} change={change} picked={picked} pickAll={(all) => select((old) => withAll(old, ids(), all))} />
      </div>
      <div ref={list} role="rowgroup" className={styles.rows} style={{ height: tops.at(-1) }}>
        {visible.map((index) => {
          const line = lines[index];
          if (!line) return null;
          // The headers are the first row.
          const position = index + 2;
          if ("group" in line) {
            const fold = () => setCollapsed((old) => toggled(old, line.key));
            return <GroupHeader key={line.key} group={line.group} top={tops[index] ?? 0} position={position} fold={fold} />;
          }
          return (
            <Row
              key={line.key}
              line={line.key}
              monitor={line.monitor}
              top={tops[index] ?? 0}
              height={height}
              position={position}
              selected={selected.has(line.monitor.monitorid)}
              current={line.key === current}
              pick={edits ? pick : null}
              responds={responds}
            />
          );
        })}
      </div>
    </div>
  );
}

function pickedOf(rows: readonly MonitorRow[], selected: ReadonlySet<string>): "all" | "some" | "none" {
  const count = rows.filter(({ monitorid }) => selected.has(monitorid)).length;
  return count === 0 ? "none" : count === rows.length ? "all" : "some";
}

/** Selects the monitor of a line or deselects it; with `range`, all lines from the previous one to it. */
export type Pick = (line: string, monitorid: string, range: boolean) => void;

function usePick(lines: readonly Line[], select: Props["select"]): Pick {
  const latest = useRef(lines);
  const anchor = useRef<string | null>(null);
  useEffect(() => {
    latest.current = lines;
  }, [lines]);
  return useCallback(
    (line, monitorid, range) => {
      const ids = between(latest.current, range ? anchor.current : null, line);
      anchor.current = line;
      select((old) => withAll(old, ids, !old.has(monitorid)));
    },
    [select],
  );
}

/** The distance of an element from the top of the document, which changes with what is above it. */
function useDocumentTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setTop((element.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}

/** The line that was current when the list was left, so that it is current again on return. */
let lastCursor: string | null = null;

/** Moves through the monitors by keyboard, and selects them with `pick`; returns the key of the current line. */
function useCursor(lines: readonly Line[], tops: readonly number[], start: number, pick: Pick | null): string | null {
  const navigate = useNavigate();
  const [current, setCurrent] = useState(lastCursor);
  useEffect(() => {
    lastCursor = current;
  }, [current]);
  useFocusedLine(current);

  const index = current === null ? -1 : lines.findIndex((line) => line.key === current);
  const line = lines[index];
  const monitor = line && "monitor" in line ? line.monitor.monitorid : null;
  const pickCurrent = (range: boolean) => line && monitor !== null && pick?.(line.key, monitor, range);
  const move = (step: 1 | -1) => {
    const next = nextMonitor(lines, index < 0 ? firstVisible(tops, start) : index + step, step);
    const target = lines[next];
    if (!target) return;
    reveal(start + (tops[next] ?? 0), start + (tops[next + 1] ?? 0));
    setCurrent(target.key);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(pick && { x: () => pickCurrent(false), X: () => pickCurrent(true) }),
    Enter: () => monitor !== null && void navigate(`/monitor/${monitor}`),
  });
  return current;
}

/** The index of the next monitor from `index` on, or -1. Group headers are skipped. */
function nextMonitor(lines: readonly Line[], index: number, step: 1 | -1): number {
  for (let next = index; next >= 0 && next < lines.length; next += step) {
    const line = lines[next];
    if (line && "monitor" in line) return next;
  }
  return -1;
}

/** Without a current line, the keys start with the first visible one. */
function firstVisible(tops: readonly number[], start: number): number {
  const top = window.scrollY - start;
  const line = lineAt(tops, top);
  return (tops[line] ?? 0) < top ? line + 1 : line;
}

/** Focuses the current line's link, so that screen readers announce it. */
function useFocusedLine(current: string | null): void {
  useEffect(() => {
    if (current === null) return;
    const frame = requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-line="${CSS.escape(current)}"] a`)?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [current]);
}
