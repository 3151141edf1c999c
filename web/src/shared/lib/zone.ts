/**
 * Local times in any time zone. A local time is a number, as if it were in UTC, or a text such as `2026-03-29T02:30`.
 * A local time that does not exist uses the offset before the gap, and one that exists twice means the first, as in the
 * service.
 */
import { cached } from "./time";

const DAY = 86_400_000;

const clocks = cached(
  (zone) =>
    new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }),
);

export function readerZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The zone if this browser knows it; otherwise UTC. */
export function knownZone(zone: string): string {
  try {
    clocks(zone);
    return zone;
  } catch {
    return "UTC";
  }
}

/** All zones that the browser knows, and the given ones. */
export function zones(...more: string[]): string[] {
  return [...new Set(["UTC", ...more, ...Intl.supportedValuesOf("timeZone")])].sort();
}

export function localOf(at: number, zone: string): number {
  const parts = new Map(
    clocks(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

/** Milliseconds that the zone is ahead of UTC. */
function offsetAt(at: number, zone: string): number {
  return localOf(at, zone) - Math.floor(at / 1000) * 1000;
}

export function instantOf(local: number, zone: string): number {
  const before = offsetAt(local - DAY, zone);
  const after = offsetAt(local + DAY, zone);
  const first = local - before;
  if (offsetAt(first, zone) === before) return first;
  const second = local - after;
  return offsetAt(second, zone) === after ? second : first;
}

/** NaN if it is not a local time. */
export function parseLocal(text: string): number {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text) ? Date.parse(text.includes("T") ? `${text}Z` : text) : NaN;
}

/** `2026-03-29T02:30`. */
export function localText(local: number): string {
  return new Date(local).toISOString().slice(0, 16);
}

/** Whether both zones have the same local time at all of these times. */
export function isSameTime(times: readonly number[], one: string, other: string): boolean {
  return times.every((at) => offsetAt(at, one) === offsetAt(at, other));
}
