/**
 * When a window happens, for the month view: the service lists only the next times. The rules are those of the service
 * (docs/maintenance.md); a test compares both.
 */
import type { Maintenance } from "../../shared/api/maintenances";
import { instantOf, knownZone, localOf, parseLocal } from "../../shared/lib/zone";
import { listOf, partsOf, weekdays, type Weekday } from "./rule";

const DAY = 86_400_000;

export interface Span {
  from: number;
  to: number;
}

type Window = Pick<
  Maintenance,
  "isactive" | "starts" | "time_zone" | "ends" | "duration" | "rrule" | "cron" | "except" | "status" | "current" | "modified"
>;

/** The occurrences that overlap the span from `from` to `to`, in order. */
export function occurrencesIn(window: Window, { from, to }: Span, now: number): Span[] {
  const planned = window.rrule || window.cron ? recurring(window, { from, to }) : once(window);
  const running = window.current && { from: Date.parse(window.current.from), to: endOf(window.current.to) };
  const known = planned
    // What is running may have been extended, and what was ended early is over.
    .filter((span) => !running || span.to <= running.from || span.from >= running.to)
    .map((span) => (!running && span.from <= now && now < span.to ? { ...span, to: Math.max(span.from, endedAt(window, now)) } : span))
    .filter((span) => window.isactive || span.from <= now);
  return [...known, ...(running ? [running] : [])].filter((span) => span.from < to && span.to > from).sort((a, b) => a.from - b.from);
}

function endOf(to: string | null | undefined): number {
  return to ? Date.parse(to) : Infinity;
}

/** When somebody ended it, as far as that is known. */
function endedAt({ modified }: Window, now: number): number {
  return Math.min(now, Date.parse(modified));
}

function once(window: Window): Span[] {
  const zone = knownZone(window.time_zone);
  const local = parseLocal(window.starts);
  const from = Number.isNaN(local) ? Date.parse(window.starts) : instantOf(local, zone);
  return [{ from, to: endOf(window.ends) }];
}

function recurring(window: Window, { from, to }: Span): Span[] {
  const zone = knownZone(window.time_zone);
  const text = parseLocal(window.starts);
  const starts = Number.isNaN(text) ? localOf(Date.parse(window.starts), zone) : text;
  const length = (window.duration ?? 0) * 1000;
  const dates = datesOf(window, starts);
  if (dates === null) return [];
  const spans: Span[] = [];
  const except = new Set(window.except);
  const first = Math.max(dayOf(starts), dayOf(from - length) - DAY);
  for (let date = first; date <= Math.min(dayOf(to) + DAY, dates.last); date += DAY) {
    if (!dates.isOn(date) || except.has(new Date(date).toISOString().slice(0, 10))) continue;
    for (const time of dates.times) {
      const local = date + time;
      const at = instantOf(local, zone);
      if (local >= starts && local <= dates.lastStart && at <= dates.lastInstant) spans.push({ from: at, to: at + length });
    }
  }
  return merged(spans);
}

/** Those that overlap, or follow each other without a gap, are one. */
function merged(spans: Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else found.push({ ...span });
  }
  return found;
}

function dayOf(local: number): number {
  return Math.floor(local / DAY) * DAY;
}

/** The days of a rule, the times on each in milliseconds, and the last day, local start and start. */
interface Dates {
  isOn: (date: number) => boolean;
  times: number[];
  last: number;
  lastStart: number;
  lastInstant: number;
}

function datesOf({ rrule, cron }: Window, starts: number): Dates | null {
  const endless = { last: Infinity, lastStart: Infinity, lastInstant: Infinity };
  if (cron) {
    const rule = cronOf(cron);
    return rule && { ...rule, ...endless };
  }
  const parts = partsOf(rrule ?? "");
  if (parts === null) return null;
  const until = parts.get("UNTIL")?.replace(/^(\d{4})(\d\d)(\d\d)(T(\d\d)(\d\d)(\d\d))?(Z?)$/, "$1-$2-$3T$5:$6:$7$8") ?? "";
  const end = until === "" ? Infinity : Date.parse(until.replace("T::", "T23:59:59").replace(/Z?$/, "Z"));
  const isUtc = until.endsWith("Z");
  return {
    isOn: ruleDates(parts, dayOf(starts)),
    times: [starts - dayOf(starts)],
    last: isUtc ? end + DAY : end,
    lastStart: isUtc ? Infinity : end,
    lastInstant: isUtc ? end : Infinity,
  };
}

function numbers(value: string | undefined): number[] {
  return listOf(value).map(Number);
}

const weekdayAt = (date: number) => (new Date(date).getUTCDay() + 6) % 7;
const monthAt = (date: number) => new Date(date).getUTCMonth() + 1;
const dateAt = (date: number) => new Date(date).getUTCDate();
const daysInMonth = (date: number) => new Date(Date.UTC(new Date(date).getUTCFullYear(), monthAt(date), 0)).getUTCDate();

/** Whether a recurrence rule has a day; `first` gives what it leaves open. */
function ruleDates(parts: Map<string, string>, first: number): (date: number) => boolean {
  const frequency = parts.get("FREQ") ?? "";
  const interval = Number(parts.get("INTERVAL") ?? 1);
  const weekStart = weekdays.indexOf((parts.get("WKST") ?? "MO") as Weekday);
  const positions = numbers(parts.get("BYSETPOS"));
  const period = periodOf(frequency, weekStart);
  const matches = dayFilter(parts, frequency, first);
  const isOnTurn = (date: number) => (period.number(date) - period.number(first)) % interval === 0;
  if (positions.length === 0) return (date) => isOnTurn(date) && matches(date);
  return (date) => {
    if (!isOnTurn(date) || !matches(date)) return false;
    const all = period.days(date).filter(matches);
    const index = all.indexOf(date);
    return positions.includes(index + 1) || positions.includes(index - all.length);
  };
}

/** The periods that an interval counts, and the days of one. */
function periodOf(frequency: string, weekStart: number) {
  const from = (begin: number, count: number) => Array.from({ length: count }, (_, day) => begin + day * DAY);
  const year = (date: number) => new Date(date).getUTCFullYear();
  switch (frequency) {
    case "WEEKLY": {
      const begin = (date: number) => date - ((weekdayAt(date) - weekStart + 7) % 7) * DAY;
      return { number: (date: number) => Math.floor(begin(date) / DAY / 7), days: (date: number) => from(begin(date), 7) };
    }
    case "MONTHLY":
      return {
        number: (date: number) => year(date) * 12 + monthAt(date),
        days: (date: number) => from(Date.UTC(year(date), monthAt(date) - 1, 1), daysInMonth(date)),
      };
    case "YEARLY":
      return {
        number: year,
        days: (date: number) => from(Date.UTC(year(date), 0, 1), (Date.UTC(year(date) + 1, 0, 1) - Date.UTC(year(date), 0, 1)) / DAY),
      };
    default:
      return { number: (date: number) => date / DAY, days: (date: number) => [date] };
  }
}

function dayFilter(parts: Map<string, string>, frequency: string, first: number): (date: number) => boolean {
  let months = numbers(parts.get("BYMONTH"));
  let dates = numbers(parts.get("BYMONTHDAY"));
  let days = listOf(parts.get("BYDAY"));
  const isOpen = dates.length === 0 && days.length === 0;
  const isNthOfYear = frequency === "YEARLY" && months.length === 0;
  if (isOpen && frequency === "WEEKLY") days = [weekdays[weekdayAt(first)] ?? "MO"];
  if (isOpen && (frequency === "MONTHLY" || frequency === "YEARLY")) dates = [dateAt(first)];
  if (isOpen && isNthOfYear) months = [monthAt(first)];
  const isDay = (text: string, date: number) => {
    if (!text.endsWith(weekdays[weekdayAt(date)] ?? "")) return false;
    const nth = Number(text.slice(0, -2));
    if (nth === 0) return true;
    const year = new Date(date).getUTCFullYear();
    const [place, count] = isNthOfYear
      ? [(date - Date.UTC(year, 0, 1)) / DAY, (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY]
      : [dateAt(date) - 1, daysInMonth(date)];
    return nth > 0 ? Math.floor(place / 7) + 1 === nth : Math.floor((count - 1 - place) / 7) + 1 === -nth;
  };
  return (date) =>
    (months.length === 0 || months.includes(monthAt(date))) &&
    (dates.length === 0 || dates.includes(dateAt(date)) || dates.includes(dateAt(date) - daysInMonth(date) - 1)) &&
    (days.length === 0 || days.some((day) => isDay(day, date)));
}

const monthNames = ["", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const dayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** The days and times of a cron expression. */
function cronOf(text: string): Pick<Dates, "isOn" | "times"> | null {
  const [minute, hour, date, month, day] = text.trim().split(/\s+/);
  if (minute === undefined || hour === undefined || date === undefined || month === undefined || day === undefined) return null;
  const minutes = cronField(minute, 0, 59);
  const hours = cronField(hour, 0, 23);
  const dates = cronField(
    date
      .split(",")
      .filter((part) => !/^l$/i.test(part))
      .join(","),
    1,
    31,
  );
  const hasLast = /(^|,)l(,|$)/i.test(date);
  const months = cronField(month, 1, 12, monthNames);
  const days = cronField(day, 0, 7, dayNames);
  if (days.has(7)) days.add(0);
  const isEither = !date.startsWith("*") && !day.startsWith("*");
  const times = [...hours].flatMap((each) => [...minutes].map((one) => (each * 60 + one) * 60_000));
  const isOn = (at: number) => {
    const onDate = dates.has(dateAt(at)) || (hasLast && dateAt(at) === daysInMonth(at));
    const onDay = days.has(new Date(at).getUTCDay());
    return (isEither ? onDate || onDay : onDate && onDay) && months.has(monthAt(at));
  };
  return { isOn, times: times.sort((a, b) => a - b) };
}

/** The values of a field: `*`, `5`, `1-5`, `10-20/5`, `10/5`, or a list of these. */
function cronField(text: string, min: number, max: number, names: readonly string[] = []): Set<number> {
  const value = (word: string) => {
    const named = names.indexOf(word.toUpperCase());
    return named >= 0 ? named : Number(word);
  };
  const found = new Set<number>();
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [range = "", step] = part.split("/");
    const [low = "", high] = range.split("-");
    const first = range === "*" ? min : value(low);
    const last = range === "*" || (high === undefined && step !== undefined) ? max : value(high ?? low);
    for (let each = first; each <= last; each += Number(step ?? 1) || 1) found.add(each);
  }
  return found;
}
