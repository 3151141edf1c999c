/**
 * The rule of a recurring window as the form shows it: by weekday, by month, as cron, or as a recurrence rule of RFC 5545
 * for what the form has no fields for. Changing the form of a rule keeps what the other one can express.
 */
import { find } from "../../shared/api/closed-sets";

export const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
export type Weekday = (typeof weekdays)[number];

export const repeats = ["once", "week", "month", "cron", "rrule"] as const;
export type Repeat = (typeof repeats)[number];

/** A day of the month; -1 is the last one. */
export type MonthDay = number;

export const ordinals = ["1", "2", "3", "4", "-1"] as const;
export type Ordinal = (typeof ordinals)[number];

export interface RuleValues {
  repeat: Repeat;
  /** Every so many weeks or months. */
  every: number | "";
  /** By weekday. */
  days: Weekday[];
  /** By month: on days of the month, or on a weekday such as the second Tuesday. */
  monthly: "day" | "weekday";
  dates: MonthDay[];
  ordinal: Ordinal;
  weekday: Weekday;
  /** The last date, or an empty text. */
  until: string;
  cron: string;
  rrule: string;
}

export function initialRule(local: string): RuleValues {
  const [day, date] = [weekdayOf(local), Number(local.slice(8, 10)) || 1];
  return {
    repeat: "once",
    every: 1,
    days: [day],
    monthly: "day",
    dates: [date],
    ordinal: find(ordinals, String(Math.ceil(date / 7))) ?? "-1",
    weekday: day,
    until: "",
    cron: "",
    rrule: "",
  };
}

/** The weekday of a local date or time. */
export function weekdayOf(local: string): Weekday {
  const day = new Date(`${local.slice(0, 10)}T00:00:00Z`).getUTCDay();
  return weekdays[(day + 6) % 7] ?? "MO";
}

/** The recurrence rule of the values; empty if they are no such rule. */
export function rruleOf(values: RuleValues): string {
  if (values.repeat === "rrule") return values.rrule.trim();
  if (values.repeat !== "week" && values.repeat !== "month") return "";
  const days = values.repeat === "week" ? `BYDAY=${inOrder(values.days).join(",")}` : monthRule(values);
  const parts = [
    `FREQ=${values.repeat === "week" ? "WEEKLY" : "MONTHLY"}`,
    ...(values.every !== 1 && values.every !== "" ? [`INTERVAL=${values.every}`] : []),
    days,
    ...(values.until === "" ? [] : [`UNTIL=${values.until.replaceAll("-", "")}T235959`]),
  ];
  return parts.join(";");
}

function monthRule({ monthly, dates, ordinal, weekday }: RuleValues): string {
  return monthly === "day" ? `BYMONTHDAY=${sortedDates(dates).join(",")}` : `BYDAY=${ordinal}${weekday}`;
}

function inOrder(days: readonly Weekday[]): Weekday[] {
  return weekdays.filter((day) => days.includes(day));
}

/** In order; the last day of the month comes last. */
export function sortedDates(dates: readonly MonthDay[]): MonthDay[] {
  const place = (date: MonthDay) => (date < 0 ? 32 : date);
  return [...new Set(dates)].sort((a, b) => place(a) - place(b));
}

/** The fields of a recurrence rule, or the rule itself if the form has none for it. `starts` gives what the rule leaves open. */
export function fromRrule(text: string, starts: string): RuleValues {
  const initial = { ...initialRule(starts), rrule: text };
  return { ...initial, ...(fieldsOf(text, initial) ?? { repeat: "rrule" }) };
}

const SUPPORTED = ["FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYSETPOS", "UNTIL", "WKST"];

function fieldsOf(text: string, initial: RuleValues): Partial<RuleValues> | null {
  const parts = partsOf(text);
  if (parts === null || [...parts.keys()].some((name) => !SUPPORTED.includes(name))) return null;
  const every = Number(parts.get("INTERVAL") ?? 1);
  const until = untilOf(parts.get("UNTIL"));
  if (until === null) return null;
  const byDay = listOf(parts.get("BYDAY"));
  const byDate = listOf(parts.get("BYMONTHDAY"));
  const position = parts.get("BYSETPOS");
  const shared = { every, until };
  const plain = byDay.map((day) => find(weekdays, day));
  const isPlain = plain.every((day) => day !== undefined) && byDate.length === 0 && position === undefined;
  const days = plain.filter((day) => day !== undefined);
  switch (parts.get("FREQ") ?? "") {
    case "DAILY":
      return isPlain && every === 1 ? { ...shared, repeat: "week", days: days.length > 0 ? days : [...weekdays] } : null;
    case "WEEKLY":
      // The start of the week matters only if weeks are left out.
      if (!isPlain || (every > 1 && (parts.get("WKST") ?? "MO") !== "MO")) return null;
      return { ...shared, repeat: "week", days: days.length > 0 ? days : initial.days };
    case "MONTHLY":
      return monthFields(byDay, byDate, position, initial, shared);
    default:
      return null;
  }
}

function monthFields(
  byDay: string[],
  byDate: string[],
  position: string | undefined,
  initial: RuleValues,
  shared: Pick<RuleValues, "every" | "until">,
): Partial<RuleValues> | null {
  if (byDay.length === 0) {
    const dates = byDate.map(Number);
    if (position !== undefined || dates.some((date) => !Number.isInteger(date) || date < -1 || date === 0 || date > 31)) return null;
    return { ...shared, repeat: "month", monthly: "day", dates: dates.length > 0 ? dates : initial.dates };
  }
  const [, nth = "", day = ""] = /^(-?\d*)(\w\w)$/.exec(byDay[0] ?? "") ?? [];
  const ordinal = find(ordinals, nth === "" ? (position ?? null) : nth);
  const weekday = find(weekdays, day);
  const isOne = byDay.length === 1 && byDate.length === 0 && (nth === "" || position === undefined);
  return isOne && ordinal && weekday ? { ...shared, repeat: "month", monthly: "weekday", ordinal, weekday } : null;
}

/** The parts of a rule by name, or null if it is not a rule. */
export function partsOf(text: string): Map<string, string> | null {
  const parts = new Map<string, string>();
  const rule = text.trim().toUpperCase();
  for (const part of rule.replace(/^RRULE:/, "").split(";")) {
    const [name = "", value] = part.split("=");
    if (part === "") continue;
    if (value === undefined || parts.has(name)) return null;
    parts.set(name, value);
  }
  return parts.has("FREQ") ? parts : null;
}

export function listOf(value: string | undefined): string[] {
  return value?.split(",").filter((item) => item !== "") ?? [];
}

/** The date of a local end; null for one that the form has no field for. */
function untilOf(value: string | undefined): string | null {
  if (value === undefined) return "";
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)(T\d{6})?$/.exec(value) ?? [];
  return year === undefined ? null : `${year}-${month ?? ""}-${day ?? ""}`;
}

const cronDays: Record<Weekday, string> = { MO: "MON", TU: "TUE", WE: "WED", TH: "THU", FR: "FRI", SA: "SAT", SU: "SUN" };

/** What a cron expression cannot express. */
export type Lost = "every" | "ordinal" | "until";

/** The values as cron, at the time of day of `starts`, and what is lost. */
export function toCron(values: RuleValues, starts: string): { cron: string; lost: Lost[] } {
  const [, hour = "0", minute = "0"] = /T(\d\d):(\d\d)/.exec(starts) ?? [];
  const time = `${Number(minute)} ${Number(hour)}`;
  const lost: Lost[] = [];
  if (values.every !== 1 && values.every !== "") lost.push("every");
  if (values.until !== "") lost.push("until");
  if (values.repeat === "month") {
    if (values.monthly === "weekday") return { cron: `${time} * * ${cronDays[values.weekday]}`, lost: ["ordinal", ...lost] };
    const dates = sortedDates(values.dates).map((date) => (date < 0 ? "L" : String(date)));
    return { cron: `${time} ${dates.join(",") || "*"} * *`, lost };
  }
  const days = inOrder(values.days);
  const all = days.length === 0 || days.length === weekdays.length;
  return { cron: `${time} * * ${all ? "*" : days.map((day) => cronDays[day]).join(",")}`, lost };
}

/** The fields of a cron expression that has one time of day, and the time; null for others. */
export function fromCron(text: string): { rule: Partial<RuleValues>; time: string } | null {
  const fields = text.trim().split(/\s+/);
  const [minute = "", hour = "", date = "", month = "", day = ""] = fields;
  if (fields.length !== 5 || !/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour) || month !== "*") return null;
  if (Number(minute) > 59 || Number(hour) > 23) return null;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  const shared = { every: 1, until: "" };
  if (date === "*") {
    const days = day === "*" ? [...weekdays] : weekdaysOf(day);
    return days && { rule: { ...shared, repeat: "week", days }, time };
  }
  const dates = date.split(",").map((item) => (/^l$/i.test(item) ? -1 : /^\d{1,2}$/.test(item) ? Number(item) : NaN));
  const isValid = day === "*" && dates.every((one) => one === -1 || (one >= 1 && one <= 31));
  return isValid ? { rule: { ...shared, repeat: "month", monthly: "day", dates }, time } : null;
}

/** The weekdays of a list such as `MON-FRI` or `0,3`; null if it is another expression. */
function weekdaysOf(text: string): Weekday[] | null {
  const found = new Set<Weekday>();
  for (const part of text.split(",")) {
    const [first, last = first] = part.split("-").map(weekdayNumber);
    if (first === undefined || last === undefined || Number.isNaN(first + last) || first > last) return null;
    for (let day = first; day <= last; day++) found.add(weekdays[(day + 6) % 7] ?? "MO");
  }
  return inOrder([...found]);
}

const cronNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** 0 to 7; 0 and 7 are Sunday. */
function weekdayNumber(text: string): number {
  const named = cronNames.indexOf(text.toUpperCase());
  return named >= 0 ? named : /^[0-7]$/.test(text) ? Number(text) : NaN;
}

/** A rule with the time at which it starts. */
export type Rule = RuleValues & { starts: string };

/** The same rule in another form, as far as that can express it. */
export function switchedTo(repeat: Repeat, values: Rule): { rule: Partial<Rule>; lost: Lost[] } {
  const { repeat: from } = values;
  if (repeat === from) return { rule: {}, lost: [] };
  if (repeat === "cron") {
    if (from !== "week" && from !== "month")
      return { rule: { repeat, ...(values.cron === "" && { cron: toCron(values, values.starts).cron }) }, lost: [] };
    const { cron, lost } = toCron(values, values.starts);
    return { rule: { repeat, cron }, lost };
  }
  if (repeat === "rrule") {
    const known = from === "cron" ? fromCron(values.cron) : null;
    const written = rruleOf({ ...values, ...known?.rule, repeat: known?.rule.repeat ?? (from === "month" ? "month" : "week") });
    return {
      rule: { repeat, ...atTime(values.starts, known?.time), rrule: from === "once" && values.rrule !== "" ? values.rrule : written },
      lost: [],
    };
  }
  if (repeat === "once") return { rule: { repeat }, lost: [] };
  const known =
    from === "cron" ? fromCron(values.cron) : from === "rrule" ? { rule: fromRrule(values.rrule, values.starts), time: undefined } : null;
  const fits = known !== null && known.rule.repeat !== "rrule";
  // By weekday and by month have the interval and the end in common.
  return {
    rule: { ...(fits && { ...known.rule, ...atTime(values.starts, known.time) }), repeat, cron: values.cron, rrule: values.rrule },
    lost: [],
  };
}

function atTime(starts: string, time: string | undefined): { starts?: string } {
  return time === undefined || starts === "" ? {} : { starts: `${starts.slice(0, 10)}T${time}` };
}
