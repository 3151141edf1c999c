/** The layout of a month: its weeks, and the windows on each day, in the reader's time zone. */
import type { Maintenance } from "../../shared/api/maintenances";
import { occurrencesIn, type Span } from "./occurrences";

/** `2026-11`, of a URL or of today. */
export function monthOf(text: string | null, now: Date): string {
  if (text !== null && /^(19|20|21)\d\d-(0[1-9]|1[0-2])$/.test(text)) return text;
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}`;
}

export function shifted(month: string, by: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return monthOf(null, new Date(year, number - 1 + by, 1));
}

/** The days of the weeks of a month, seven each; 0 is a week that begins on Sunday, 1 on Monday. */
export function weeksOf(month: string, weekStart: number): Date[][] {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const first = new Date(year, number - 1, 1);
  const offset = (first.getDay() - weekStart + 7) % 7;
  const count = Math.ceil((offset + new Date(year, number, 0).getDate()) / 7);
  return Array.from({ length: count }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => new Date(year, number - 1, 1 - offset + week * 7 + day)),
  );
}

/** The first day of the week in a locale: 0 is Sunday. */
export function weekStartOf(locale: string): number {
  // A property in some engines, a method in others.
  const found = new Intl.Locale(locale) as Intl.Locale & { weekInfo?: WeekInfo; getWeekInfo?: () => WeekInfo };
  return ((found.getWeekInfo?.() ?? found.weekInfo)?.firstDay ?? 1) % 7;
}

interface WeekInfo {
  /** 7 is Sunday. */
  firstDay: number;
}

/** An occurrence on the days of a week. */
export interface Bar extends Span {
  window: Maintenance;
  /** The first and last day within the week, 0 to 6. */
  first: number;
  last: number;
  /** Whether it began before the week, or lasts longer. */
  before: boolean;
  after: boolean;
  /** Its line in the week; bars that share a day have different ones. */
  lane: number;
}

function nextDay(day: Date): Date {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1);
}

/** The bars of a week, those that begin first on top. */
export function barsOf(windows: readonly Maintenance[], week: readonly Date[], now: number): Bar[] {
  const [monday, sunday] = [week[0], week.at(-1)];
  if (!monday || !sunday) return [];
  const span = { from: monday.getTime(), to: nextDay(sunday).getTime() };
  const dayAt = (at: number) => week.findLastIndex((day) => day.getTime() <= at);
  const found = windows.flatMap((window) => occurrencesIn(window, span, now).map((occurrence) => ({ ...occurrence, window })));
  const lanes: number[] = [];
  return found
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .map((occurrence) => {
      const first = Math.max(0, dayAt(occurrence.from));
      // An end at midnight belongs to the day before.
      const last = Math.max(first, dayAt(Math.min(occurrence.to, span.to) - 1));
      const free = lanes.findIndex((until) => until < first);
      const lane = free < 0 ? lanes.length : free;
      lanes[lane] = last;
      return { ...occurrence, first, last, before: occurrence.from < span.from, after: occurrence.to > span.to, lane };
    });
}

/** The occurrences on a day. */
export function onDay(windows: readonly Maintenance[], day: Date, now: number): (Span & { window: Maintenance })[] {
  return barsOf(windows, [day], now);
}

export function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
