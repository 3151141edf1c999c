/** The response time chart, loaded on demand because of its library. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { millis } from "../../../shared/lib/time";
import { useLanguage, useTexts, type Texts } from "../../../shared/i18n";
import { useScheme } from "../../../shared/ui/scheme";
import type { Point, RegionLine, Series } from "../data";
import { LOCAL } from "../regions";
import { numberTicks, timeTicks, valueTicks, withUnit, type Measure } from "./axis";
import { hatch, leaveOutOutages, placeLabels, shade } from "./chart-layers";
import styles from "./detail.module.css";
import { byRegion, percentiles, phases, readings, regionColor, stacked, withGaps, type Outage, type ReadingOf } from "./series";

const HEIGHT = 240;
/** The distance of the values' labels from the lines. */
const LABEL_SPACE = 16;

export type Mode = "percentiles" | "phases" | "regions" | "reading";

interface Props {
  /** What is measured. */
  title: string;
  series: Series;
  down: readonly Outage[];
  /** Maintenance, and when it is not known whether the target was up. */
  planned: readonly Outage[];
  unknown: readonly Outage[];
  /** The first check of the monitor, in seconds, if it is within the range. */
  first: number | null;
  mode: Mode;
  /** What the mode `reading` shows. */
  reading: ReadingOf | null;
  /** Seconds between checks. */
  interval: number;
  zoom: (from: number, to: number) => void;
}

export default function Chart({ title, series, down, planned, unknown, first, mode, reading, interval, zoom }: Props) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { shown: scheme } = useScheme();
  const box = useRef<HTMLDivElement>(null);
  const zoomed = useRef(zoom);
  useEffect(() => {
    zoomed.current = zoom;
  });
  const place = reading?.place;
  const [name, unit] = [reading?.name ?? title, reading?.unit ?? ""];
  const numbers = place === undefined ? series.points.map((point) => point.max) : readings(series.points, place).flat();
  const max = Math.max(0, ...numbers.map((number) => number ?? 0));
  const most = place === undefined ? millis(max, locale) : withUnit(max, unit, locale);
  const label = t.detail.chartLabel(name, series.points.length, most, down.length, planned.length);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const plot = draw(
      element,
      {
        ...{ title, series, down, planned, unknown, first, mode, interval },
        reading: place === undefined ? null : { place, name, unit },
        zoom: (from, to) => zoomed.current(from, to),
      },
      t,
      locale,
    );
    enableTouch(plot);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [title, series, down, planned, unknown, first, mode, place, name, unit, interval, t, locale, scheme]);
  return (
    <div ref={box} className={styles.plot} role="img" aria-label={label}>
      {series.points.length === 0 && <p className={styles.empty}>{t.detail.noChart}</p>}
    </div>
  );
}

/** Reads colors of the current scheme. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  return (name: string) => style.getPropertyValue(name).trim();
}

function draw(element: HTMLElement, props: Props, t: Texts, locale: string): uPlot {
  const { series, down, planned, unknown, first, mode, reading, interval, zoom } = props;
  const color = palette();
  const { at, points } = withGaps(series, interval);
  const lines = series.regions ?? [];
  const columns = columnsOf(mode, points, lines, reading);
  const [from, to] = [Date.parse(series.from) / 1000, Date.parse(series.to) / 1000];
  const numbers = columns.flat().map((value) => value ?? 0);
  const [lowest, highest] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const values = reading ? numberTicks(highest, reading.unit, locale) : valueTicks(highest, locale);
  const measure = measureIn(`12px ${color("--font-text")}`);
  const bare: uPlot.Axis = { ticks: { show: false }, values: (_, ticks) => ticks.map(() => "") };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { points: { size: 7 }, y: false, drag: { x: true, y: false, setScale: false } },
      scales: { x: { range: () => [from, to] }, y: { range: () => [lowest, values.at(-1)?.at || 1] } },
      series: [{}, ...linesOf(mode, color, points, lines.length)],
      bands: bandsOf(mode, color),
      axes: [
        { ...bare, size: 28, grid: { show: false } },
        {
          ...bare,
          size: Math.max(...values.map(({ label }) => measure(label))) + LABEL_SPACE,
          splits: () => values.map((tick) => tick.at),
          grid: { stroke: color("--line"), width: 1 },
        },
      ],
      hooks: {
        drawClear: [
          (plot) => {
            if (first !== null) hatch(plot, { from: -Infinity, to: first }, color("--line"));
            for (const span of unknown) hatch(plot, span, color("--rest-bar"));
            shade(plot, planned, color("--maintenance-bar"));
            shade(plot, down, color("--down-bar"));
          },
        ],
        drawAxes: [(plot) => leaveOutOutages(plot, down)],
        draw: [
          (plot) => {
            plot.ctx.restore();
            placeLabels(plot, timeTicks(from, to, plot.over.clientWidth, measure, locale), values);
          },
        ],
        setCursor: [(plot) => showTooltip(plot, element, points, (point) => tooltipLines(point, props, t, locale), locale)],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width > 4) zoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + width, "x") * 1000);
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [at, ...columns],
    element,
  );
}

/** Measures texts in a font. */
function measureIn(font: string): Measure {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return (text) => text.length * 8;
  context.font = font;
  return (text) => context.measureText(text).width;
}

/** The library supports only the mouse. Dragging sideways selects a range; dragging vertically scrolls the page. */
function enableTouch(plot: uPlot) {
  const { over } = plot;
  let from: number | null = null;
  const position = ({ clientX }: PointerEvent) => Math.min(over.clientWidth, Math.max(0, clientX - over.getBoundingClientRect().left));
  const mark = (to: number, done: boolean) => {
    if (from === null) return;
    const span = { left: Math.min(from, to), width: Math.abs(to - from), top: 0, height: over.clientHeight };
    plot.setCursor({ left: to, top: 0 });
    if (done) from = null;
    plot.setSelect(span, done);
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    from = position(event);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", (event) => mark(position(event), false));
  over.addEventListener("pointerup", (event) => mark(position(event), true));
  // The page is being scrolled: nothing is selected.
  over.addEventListener("pointercancel", () => {
    mark(from ?? 0, true);
  });
}

type Color = (name: string) => string;

function columnsOf(mode: Mode, points: readonly (Point | null)[], lines: readonly RegionLine[], reading: ReadingOf | null) {
  if (mode === "regions") return byRegion(points, lines);
  if (mode === "phases") return stacked(points);
  return reading ? readings(points, reading.place) : percentiles(points);
}

function bandsOf(mode: Mode, color: Color): uPlot.Band[] {
  if (mode === "regions") return [];
  if (mode === "phases") return phaseBands(color);
  return mode === "reading" ? [{ series: [1, 3], fill: `${color("--accent")}2f` }] : percentileBands(color);
}

function linesOf(mode: Mode, color: Color, points: readonly (Point | null)[], regions: number): uPlot.Series[] {
  if (mode === "phases") return phaseLines(color);
  if (mode === "percentiles") return percentileLines(color, points);
  if (mode === "reading") {
    const [thin, , line] = percentileLines(color, points);
    return [thin ?? {}, line ?? {}, thin ?? {}];
  }
  const dots = { show: points.length < 40, size: 5 };
  return Array.from({ length: regions }, (_, index) => ({ stroke: color(`--${regionColor(index)}`), width: 1.75, points: dots }));
}

function percentileLines(color: Color, points: readonly (Point | null)[]): uPlot.Series[] {
  const thin = { stroke: "transparent", width: 0, points: { show: false } };
  const line = { stroke: color("--accent"), width: 1.75, points: { show: points.length < 40, size: 5 } };
  return [thin, thin, line];
}

function percentileBands(color: Color): uPlot.Band[] {
  return [
    { series: [1, 2], fill: `${color("--accent")}1f` },
    { series: [2, 3], fill: `${color("--accent")}40` },
  ];
}

function phaseLines(color: Color): uPlot.Series[] {
  return phases.toReversed().map((phase, index) => ({
    stroke: color(`--phase-${phase}`),
    width: 1,
    points: { show: false },
    // The lowest phase is filled down to zero; the bands fill the others down to the one below.
    ...(index === phases.length - 1 && { fill: `${color(`--phase-${phase}`)}99` }),
  }));
}

function phaseBands(color: Color): uPlot.Band[] {
  return phases
    .toReversed()
    .slice(0, -1)
    .map((phase, index) => ({ series: [index + 1, index + 2], fill: `${color(`--phase-${phase}`)}99` }));
}

/** Shows a tooltip for the point under the cursor. */
function showTooltip(
  plot: uPlot,
  element: HTMLElement,
  points: readonly (Point | null)[],
  words: (point: Point) => string[],
  locale: string,
) {
  let tip = element.querySelector<HTMLElement>("[data-tip]");
  if (!tip) {
    tip = document.createElement("div");
    tip.dataset.tip = "";
    tip.className = styles.tip ?? "";
    plot.over.append(tip);
  }
  const { idx, left = -1 } = plot.cursor;
  const point = idx === null || idx === undefined ? null : (points[idx] ?? null);
  tip.hidden = !point || left < 0;
  if (!point) return;
  const time = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(Date.parse(point.at));
  tip.replaceChildren(...[time, ...words(point)].map(lineOf));
  tip.style.left = `${left}px`;
  tip.dataset.side = left > plot.over.clientWidth * 0.65 ? "left" : "";
}

function lineOf(text: string): HTMLElement {
  const line = document.createElement("span");
  line.textContent = text;
  return line;
}

function tooltipLines(point: Point, { mode, series, title, reading }: Props, t: Texts, locale: string): string[] {
  if (mode === "reading" && reading) {
    const found = point.reading?.[reading.place];
    if (!found) return [];
    const words = (value: number) => withUnit(value, reading.unit, locale);
    const range = found.min === found.max ? [] : [`${words(found.min)} – ${words(found.max)}`];
    return [`${reading.name} ${words(found.mean)}`, ...range];
  }
  const value = (name: string, ms: number | null | undefined) => valueOf(name, ms, locale);
  if (mode === "regions") return (series.regions ?? []).flatMap((line) => regionLines(line, point.at, t, locale));
  const words =
    mode === "phases"
      ? phases.flatMap((phase) => value(t.monitors.phases[phase], point.phases[phase]))
      : point.up + point.down + point.pending + point.unknown === 1
        ? value(title, point.p50)
        : (["p50", "p95", "p99"] as const).flatMap((which) => value(which, point[which]));
  const planned = point.maintenance > 0 ? [t.maintenance.legend] : [];
  const failed = point.down > 0 ? [t.detail.failures(point.down)] : [];
  return [...words, ...failed, ...planned];
}

function regionLines({ region, points }: RegionLine, at: string, t: Texts, locale: string): string[] {
  const seen = points.find((point) => point.at === at);
  if (!seen) return [];
  const name = region === LOCAL ? t.regions.local : region;
  const failed = seen.down > 0 ? [`${name}: ${t.detail.failures(seen.down)}`] : [];
  const unknown = seen.unknown > 0 ? [`${name}: ${t.monitors.results.unknown}`] : [];
  return [...valueOf(name, seen.p50, locale), ...failed, ...unknown];
}

function valueOf(name: string, ms: number | null | undefined, locale: string): string[] {
  return typeof ms === "number" ? [`${name} ${millis(ms, locale)}`] : [];
}
