/** Converts the points of a series into chart data. */
import { kindOf, type Alert, type Point, type RegionLine, type Series, type Shown } from "../data";

export const phases = ["resolve", "connect", "tls", "first_byte", "transfer"] as const;
export type Phase = (typeof phases)[number];

type Column = (number | null)[];

/** Steps without data are omitted; more than this many missing steps make a gap in the line. */
const MAX_GAP_STEPS = 2.5;

/**
 * The series with a gap wherever checks are missing. A point is in the middle of
 * its step, and the last one is held until the end, if the next check may still be
 * due. Steps can be shorter than the check interval, which alone is not a gap.
 */
export function withGaps(
  { points, step, to }: Pick<Series, "points" | "step" | "to">,
  interval: number,
): { at: number[]; points: (Point | null)[] } {
  const at: number[] = [];
  const shown: (Point | null)[] = [];
  const add = (time: number, point: Point | null) => {
    at.push(time);
    shown.push(point);
  };
  const longest = MAX_GAP_STEPS * Math.max(step, interval);
  const end = seconds(to);
  for (const point of points) {
    const time = Math.min(seconds(point.at) + step / 2, end);
    const before = at.at(-1);
    if (before !== undefined && time - before > longest) add(before + longest / 2, null);
    add(time, point);
  }
  const last = at.at(-1);
  if (last !== undefined && last < end && end - last <= longest) add(end, shown.at(-1) ?? null);
  return { at, points: shown };
}

/**
 * The first check of a monitor that was created within the chart's range, in
 * seconds, or the end of the chart if there was none yet. Null if the monitor was
 * already checked when the chart begins.
 */
export function firstCheck({ points, step, from, to }: Pick<Series, "points" | "step" | "from" | "to">, created: string): number | null {
  const first = seconds(points[0]?.at ?? to);
  return seconds(created) > seconds(from) && first - seconds(from) > step ? first : null;
}

/** The percentiles, highest first: the order in which bands are drawn between them. */
export function percentiles(points: readonly (Point | null)[]): Column[] {
  return (["p99", "p95", "p50"] as const).map((which) => points.map((point) => point?.[which] ?? null));
}

/** The phases stacked, the last one first: each column is the sum of its phase and all before it. */
export function stacked(points: readonly (Point | null)[]): Column[] {
  const sums = points.map(() => 0);
  const columns = phases.map((phase) =>
    points.map((point, index) => {
      if (!point || phases.every((each) => typeof point.phases[each] !== "number")) return null;
      return (sums[index] = (sums[index] ?? 0) + (point.phases[phase] ?? 0));
    }),
  );
  return columns.reverse();
}

/** The median response time of each region, one column each; a step without a check is a gap. */
export function byRegion(points: readonly (Point | null)[], lines: readonly RegionLine[]): Column[] {
  return lines.map((line) => {
    const seen = new Map(line.points.map((point) => [point.at, point.p50 ?? null]));
    return points.map((point) => (point ? (seen.get(point.at) ?? null) : null));
  });
}

/** A number that checks have measured: its place among the readings of a heartbeat, its name and its unit. */
export interface ReadingOf {
  place: 0 | 1;
  name: string;
  unit: string;
}

/** The highest, the mean and the lowest value of a reading in each step: the order in which bands are drawn between them. */
export function readings(points: readonly (Point | null)[], place: number): Column[] {
  return (["max", "mean", "min"] as const).map((which) => points.map((point) => point?.reading?.[place]?.[which] ?? null));
}

/** Whether any step has such a reading. */
export function hasReading(points: readonly Point[], place: number): boolean {
  return points.some((point) => point.reading?.[place]);
}

/** There are colors for six regions; further regions reuse them. */
const COLORS = 6;

export function regionColor(index: number): string {
  return `place-${index % COLORS}`;
}

/** Start and end of an outage or of another span, in seconds. */
export interface Outage {
  from: number;
  to: number;
}

/** The spans whose points all satisfy a condition. A point is valid until the next one, or until the next check is due. */
function spansWhere(
  { points, step, to }: Pick<Series, "points" | "step" | "to">,
  interval: number,
  is: (point: Point) => boolean,
): Outage[] {
  const found: Outage[] = [];
  points.forEach((point, index) => {
    if (!is(point)) return;
    const [from, next] = [seconds(point.at), seconds(points[index + 1]?.at ?? to)];
    const end = Math.min(next, from + MAX_GAP_STEPS * Math.max(step, interval));
    const last = found.at(-1);
    if (last && last.to >= from) last.to = end;
    else found.push({ from, to: end });
  });
  return found;
}

/**
 * Maintenance: steps with nothing but heartbeats that do not count, and exactly where single heartbeats are known. `beats` are the newest
 * ones, oldest first.
 */
export function maintenanceIn(
  series: Pick<Series, "points" | "step" | "from" | "to">,
  interval: number,
  beats: readonly Shown[] = [],
): Outage[] {
  const steps = spansWhere(
    series,
    interval,
    ({ up, down, pending, unknown, maintenance }) => maintenance > 0 && up + down + pending + unknown === 0,
  );
  const [begin, end] = [seconds(series.from), seconds(series.to)];
  const exact = beats.flatMap((beat, index) => {
    if (kindOf(beat) !== "maintenance") return [];
    const from = Math.max(begin, seconds(beat.at));
    const to = Math.min(end, seconds(beats[index + 1]?.at ?? series.to), seconds(beat.at) + MAX_GAP_STEPS * interval);
    return from < to ? [{ from, to }] : [];
  });
  return merged([...steps, ...exact]);
}

/** In order; those that touch are one. */
function merged(spans: Outage[]): Outage[] {
  const found: Outage[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else found.push({ ...span });
  }
  return found;
}

/** When it is not known whether the target was up: it could not be checked, or was unreachable. */
export function unknownIn(series: Pick<Series, "points" | "step" | "to">, interval: number): Outage[] {
  return spansWhere(series, interval, ({ up, down, pending, unknown }) => up + down + pending === 0 && unknown > 0);
}

/** What remains of outages outside of other spans, which are in order. */
export function without(outages: readonly Outage[], spans: readonly Outage[]): Outage[] {
  return spans.reduce<Outage[]>(
    (left, span) =>
      left.flatMap(({ from, to }) =>
        span.to <= from || span.from >= to
          ? [{ from, to }]
          : [
              { from, to: span.from },
              { from: span.to, to },
            ].filter((part) => part.from < part.to),
      ),
    [...outages],
  );
}

/**
 * The outages within a series, taken from the alerts: an unconfirmed failure is
 * not an outage, and an ongoing outage extends to the end of the series.
 */
export function outages(alerts: readonly Pick<Alert, "kind" | "started" | "ended">[], series: Pick<Series, "from" | "to">): Outage[] {
  const [begin, end] = [seconds(series.from), seconds(series.to)];
  return alerts
    .filter(({ kind }) => kind === "outage")
    .map(({ started, ended }) => ({ from: Math.max(begin, seconds(started)), to: ended ? Math.min(end, seconds(ended)) : end }))
    .filter(({ from, to }) => from <= to);
}

function seconds(time: string): number {
  return Date.parse(time) / 1000;
}
