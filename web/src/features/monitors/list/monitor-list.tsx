/** The list of monitors. It is virtualized: only the lines near the viewport are rendered. */
import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react";
import { useNavigate } from "react-router";
import { useKeys } from "../../../shared/lib/keys";
import { useTexts } from "../../../shared/i18n";
import type { MonitorRow } from "../data";
import { GROUP_HEADER_HEIGHT, GroupHeader } from "./group-header";
import styles from "./list.module.css";
import { Row, ROW_HEIGHT, TWO_LINE_ROW_HEIGHT } from "./row";
import { groupsOf, linesOf, toggled, type Line } from "./view";

/** Where a row needs two lines; list.module.css has the same width. */
const NARROW = "(max-width: 1000px)";

/** Lines that are rendered beyond each end of the viewport. */
const OVERSCAN = 8;

interface Props {
  rows: MonitorRow[];
  grouped: boolean;
  selected: ReadonlySet<string>;
  toggle: (id: string) => void;
}

export function MonitorList({ rows, grouped, selected, toggle }: Props) {
  const t = useTexts();
  const list = useRef<HTMLUListElement>(null);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => (grouped ? groupsOf(rows, collapsed) : linesOf(rows)), [rows, grouped, collapsed]);
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const height = narrow ? TWO_LINE_ROW_HEIGHT : ROW_HEIGHT;
  const top = useDocumentTop(list);
  const virtualizer = useVirtualLines(lines, height, top);
  // Headers and rows differ in height, and which line is which has changed.
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, grouped, collapsed, height]);
  const current = useCursor(lines, virtualizer, toggle);
  return (
    <div className={styles.table}>
      <ColumnHeaders />
      <ul ref={list} className={styles.rows} style={{ height: virtualizer.getTotalSize() }} aria-label={t.monitors.title}>
        {virtualizer.getVirtualItems().map(({ key, index, start }) => {
          const line = lines[index];
          if (!line) return null;
          if ("group" in line) {
            const fold = () => setCollapsed((old) => toggled(old, line.key));
            return <GroupHeader key={key} group={line.group} top={start - top} fold={fold} />;
          }
          return (
            <Row
              key={key}
              line={line.key}
              monitor={line.monitor}
              top={start - top}
              height={height}
              position={index + 1}
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

function ColumnHeaders() {
  const { columns } = useTexts().monitors;
  return (
    <div className={styles.columns} aria-hidden="true">
      <span />
      <span />
      <span>{columns.name}</span>
      <span className={styles.tagsColumn}>{columns.tags}</span>
      <span className={styles.barsColumn}>{columns.beats}</span>
      <span className={`${styles.right ?? ""} ${styles.uptime ?? ""}`}>
        <span>{columns.uptime}</span>
        <span>24 h / 30 d</span>
      </span>
      <span className={styles.right}>{columns.load}</span>
      <span className={`${styles.right ?? ""} ${styles.checkColumn ?? ""}`}>{columns.check}</span>
    </div>
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

type Virtualizer = ReturnType<typeof useWindowVirtualizer<Element>>;

function useVirtualLines(lines: readonly Line[], rowHeight: number, top: number): Virtualizer {
  return useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (lines[index] && "group" in lines[index] ? GROUP_HEADER_HEIGHT : rowHeight),
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => lines[index]?.key ?? index,
  });
}

/** The line that was current when the list was left, so that it is current again on return. */
let lastCursor: string | null = null;

/** Moves through the monitors by keyboard; returns the key of the current line. */
function useCursor(lines: readonly Line[], virtualizer: Virtualizer, toggle: (id: string) => void): string | null {
  const navigate = useNavigate();
  const [current, setCurrent] = useState(lastCursor);
  useEffect(() => {
    lastCursor = current;
  }, [current]);
  useFocusedLine(current);

  const index = current === null ? -1 : lines.findIndex((line) => line.key === current);
  const line = lines[index];
  const monitor = line && "monitor" in line ? line.monitor.monitorid : null;
  const move = (step: 1 | -1) => {
    const next = nextMonitor(lines, index < 0 ? firstVisible(virtualizer) : index + step, step);
    const target = lines[next];
    if (!target) return;
    virtualizer.scrollToIndex(next, { align: "auto" });
    setCurrent(target.key);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => monitor !== null && toggle(monitor),
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
function firstVisible(virtualizer: Virtualizer): number {
  return virtualizer.getVirtualItems().find((item) => item.start >= window.scrollY)?.index ?? 0;
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
