/** Ticks of the chart's axes: round values, with labels that are known to fit before they are placed. */
import { cached } from "../../../shared/lib/time";

/** A tick; on the time axis in seconds. */
export interface Tick {
  at: number;
  label: string;
}

/** The width of a text in pixels. */
export type Measure = (text: string) => number;

/** The least distance between two labels, in pixels; on a narrow axis, the second if the first leaves fewer than two. */
const LABEL_GAPS = [16, 6] as const;

const units = ["year", "month", "day", "hour", "minute", "second"] as const;
type Unit = (typeof units)[number];
const SECONDS: Record<Unit, number> = { year: 31_536_000, month: 2_592_000, day: 86_400, hour: 3600, minute: 60, second: 1 };

const steps: readonly (readonly [Unit, number])[] = [
  ...[5, 10, 15, 30].map((count) => ["second", count] as const),
  ...[1, 2, 5, 10, 15, 30].map((count) => ["minute", count] as const),
  ...[1, 2, 3, 6, 12].map((count) => ["hour", count] as const),
  ...[1, 2, 7, 14].map((count) => ["day", count] as const),
  ...[1, 2, 3, 6].map((count) => ["month", count] as const),
  ["year", 1],
];
const MAX_TICKS = 40;
/** Longer ranges show whole days only: the same hours again and again say little. */
const MAX_HOURS_RANGE = 3 * SECONDS.day;

/** The finest round ticks between two times whose labels fit side by side on an axis of this width. */
export function timeTicks(from: number, to: number, width: number, measure: Measure, locale: string): Tick[] {
  const position = ({ at }: Tick) => ((at - from) / (to - from)) * width;
  const isWhole = (tick: Tick) => position(tick) + measure(tick.label) / 2 <= width;
  const finest = (gap: number): Tick[] => {
    for (const [unit, count] of steps) {
      if ((to - from) / (SECONDS[unit] * count) > MAX_TICKS || (SECONDS[unit] < SECONDS.day && to - from > MAX_HOURS_RANGE)) continue;
      const ticks = labeled(roundTimes(from, to, unit, count), unit, locale);
      if (fit(ticks, position, measure, gap)) return ticks;
    }
    return [];
  };
  const [wide, narrow] = LABEL_GAPS;
  const ticks = finest(wide);
  return ticks.filter(isWhole).length < 2 ? finest(narrow) : ticks;
}

function fit(ticks: readonly Tick[], position: (tick: Tick) => number, measure: Measure, gap: number): boolean {
  return ticks.every((tick, index) => {
    const before = ticks[index - 1];
    if (!before) return true;
    return position(tick) - position(before) >= (measure(tick.label) + measure(before.label)) / 2 + gap;
  });
}

/** Whole multiples of a unit in local time, in seconds. Clocks that change may skip one. */
function roundTimes(from: number, to: number, unit: Unit, count: number): number[] {
  const parts = partsOf(new Date(from * 1000), unit, count);
  const found: number[] = [];
  for (let step = 0; step <= MAX_TICKS + 2; step++) {
    const [year = 0, month = 0, ...rest] = parts.map((part, index) => (index === units.indexOf(unit) ? part + step * count : part));
    const at = new Date(year, month, ...rest).getTime() / 1000;
    if (at > to) break;
    if (at >= from && at !== found.at(-1)) found.push(at);
  }
  return found;
}

/** Year to second of the last round time before a date. */
function partsOf(date: Date, unit: Unit, count: number): number[] {
  const depth = units.indexOf(unit);
  const whole = [date.getFullYear(), date.getMonth(), date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()];
  return whole.map((part, index) => {
    if (index > depth) return index === 2 ? 1 : 0;
    if (index < depth) return part;
    return unit === "day" ? part - (daysSinceMonday(date) % count) : part - (part % count);
  });
}

/** Counted from a fixed Monday, so that steps of several days do not start again with each month. */
function daysSinceMonday(date: Date): number {
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000) - 4;
}

const format = (options: Intl.DateTimeFormatOptions) => cached((locale) => new Intl.DateTimeFormat(locale, options));
const time = format({ hour: "2-digit", minute: "2-digit" });
const formats: Record<Unit, (locale: string) => Intl.DateTimeFormat> = {
  year: format({ year: "numeric" }),
  month: format({ month: "short" }),
  day: format({ day: "numeric", month: "short" }),
  hour: time,
  minute: time,
  second: format({ hour: "2-digit", minute: "2-digit", second: "2-digit" }),
};
const january = format({ month: "short", year: "numeric" });

/** Each label says what is new: midnight is shown as its date, and January with its year. */
function labeled(times: readonly number[], unit: Unit, locale: string): Tick[] {
  const formatOf = (date: Date) => {
    if (unit === "month" && date.getMonth() === 0) return january;
    const midnight = date.getHours() + date.getMinutes() + date.getSeconds() === 0;
    return midnight && SECONDS[unit] < SECONDS.day ? formats.day : formats[unit];
  };
  return times.map((at) => {
    const date = new Date(at * 1000);
    return { at, label: formatOf(date)(locale).format(date) };
  });
}

const numbers = cached((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 3 }));

/** The most intervals between the ticks of response times. */
const MAX_INTERVALS = 5;

/** Ticks from zero to the first round value that is not below `max`, in ms; all labels have the same unit. */
export function valueTicks(max: number, locale: string): Tick[] {
  return ticksTo(max, (at, top) => {
    const [unit, divisor] = top >= 1000 ? ["s", 1000] : ["ms", 1];
    return `${numbers(locale).format(at / divisor)} ${unit}`;
  });
}

/** The same for a number, with its unit, which may be empty. */
export function numberTicks(max: number, unit: string, locale: string): Tick[] {
  return ticksTo(max, (at) => withUnit(at, unit, locale));
}

/** A number that was measured: `40 %`, `1.5 ms`, `1,834`. */
export function withUnit(value: number, unit: string, locale: string): string {
  return unit === "" ? numbers(locale).format(value) : `${numbers(locale).format(value)} ${unit}`;
}

/** Round values from zero; `label` is given a value and the last one. */
function ticksTo(max: number, label: (at: number, top: number) => string): Tick[] {
  if (max <= 0) return [{ at: 0, label: "0" }];
  const step = roundUp(max / MAX_INTERVALS);
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => {
    const at = index * step;
    return { at, label: index === 0 ? "0" : label(at, count * step) };
  });
}

/** The next of 1, 2, 5, 10, 20 and so on. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((digit) => digit * power >= value * (1 - 1e-9)) ?? 10) * power;
}
