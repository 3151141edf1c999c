/** Weeks of a schedule: from Monday to Monday, at midnight in its time zone. */
import { instantOf, localOf, localText, parseLocal } from "../../../shared/lib/zone";
import type { Span } from "./shifts";

const DAY = 86_400_000;

/** A local date, such as 2026-11-16, of the Monday of the week that a time is in. */
export function mondayOf(at: number, zone: string): string {
  const local = localOf(at, zone);
  const day = Math.floor(local / DAY) * DAY;
  return dateText(day - ((new Date(day).getUTCDay() + 6) % 7) * DAY);
}

/** The Monday in a URL; that of the current week if there is none. */
export function weekOf(text: string | null, now: number, zone: string): string {
  const local = text && /^\d{4}-\d\d-\d\d$/.test(text) ? parseLocal(text) : NaN;
  return Number.isNaN(local) ? mondayOf(now, zone) : mondayOf(instantOf(local, zone), zone);
}

export function shifted(monday: string, weeks: number): string {
  return dateText(parseLocal(monday) + weeks * 7 * DAY);
}

/** The instants at which the days of a week begin, and that at which the last one ends. */
export function daysOf(monday: string, zone: string): number[] {
  return Array.from({ length: 8 }, (_, day) => instantOf(parseLocal(monday) + day * DAY, zone));
}

export function rangeOf(monday: string, zone: string): Span {
  const days = daysOf(monday, zone);
  return { from: days[0] ?? 0, to: days[7] ?? 0 };
}

function dateText(local: number): string {
  return localText(local).slice(0, 10);
}

/** Where a span is within a range, in percent of its length. */
export function placeOf({ from, to }: Span, range: Span): { left: string; width: string } {
  const length = range.to - range.from;
  const percent = (ms: number) => `${Math.round((ms / length) * 1e5) / 1e3}%`;
  return { left: percent(from - range.from), width: percent(to - from) };
}
