/** The range of the chart, which is in the URL: `range=7d`, or `from` and `to` while zoomed in. */
import type { Window } from "../data";

const HOUR = 3600;
const DAY = 24 * HOUR;

/** The ranges until now, in seconds, by their name in the URL. */
export const ranges = { "1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY, "90d": 90 * DAY, "365d": 365 * DAY };
export type Range = keyof typeof ranges;
export const DEFAULT_RANGE: Range = "1h";

/** The shortest and the longest range to zoom into, in ms. */
const MIN_ZOOM = 60_000;
const MAX_ZOOM = 366 * DAY * 1000;

export function rangeOf(search: URLSearchParams): Range {
  const name = search.get("range");
  return name !== null && Object.hasOwn(ranges, name) ? (name as Range) : DEFAULT_RANGE;
}

/** The range zoomed into, or null; one that is too short, too long or not valid counts as none. */
export function zoomOf(search: URLSearchParams): { from: number; to: number } | null {
  const [from, to] = [Date.parse(search.get("from") ?? ""), Date.parse(search.get("to") ?? "")];
  return isZoom(from, to) ? { from, to } : null;
}

export function isZoom(from: number, to: number): boolean {
  return to - from >= MIN_ZOOM && to - from <= MAX_ZOOM;
}

export function windowOf(search: URLSearchParams): Window {
  return zoomOf(search) ?? { last: ranges[rangeOf(search)] };
}

/** The URL's parameters with another range and without zoom; those of other parts of the page remain. */
export function withRange(search: URLSearchParams, range: Range): URLSearchParams {
  const next = withoutZoom(search);
  if (range === DEFAULT_RANGE) next.delete("range");
  else next.set("range", range);
  return next;
}

/** Whole seconds, so that links stay short. */
export function withZoom(search: URLSearchParams, from: number, to: number): URLSearchParams {
  const next = new URLSearchParams(search);
  next.set("from", secondOf(Math.floor(from / 1000)));
  next.set("to", secondOf(Math.ceil(to / 1000)));
  return next;
}

export function withoutZoom(search: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete("from");
  next.delete("to");
  return next;
}

function secondOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
