/** Formats times and durations in the reader's time zone and language. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
  ["second", 1000],
];

/** Creating a formatter is far more expensive than using it, and a list uses one in every row. */
export function cached<F>(make: (language: string) => F): (language: string) => F {
  const formats = new Map<string, F>();
  return (language) => {
    const format = formats.get(language) ?? make(language);
    formats.set(language, format);
    return format;
  };
}

const relative = cached((language) => new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" }));
const full = cached((language) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long" }));
const dated = cached((language) => new Intl.DateTimeFormat(language, { dateStyle: "medium" }));
const timeOnly: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const ofToday = cached((language) => new Intl.DateTimeFormat(language, timeOnly));
const ofAnotherDay = cached((language) => new Intl.DateTimeFormat(language, { day: "numeric", month: "short", ...timeOnly }));

/** `3 min. ago`; a time in the future, from a clock that differs, reads as now. */
export function ago(at: number, now: number, language: string): string {
  const passed = Math.max(0, now - at);
  for (const [unit, size] of steps) {
    if (passed >= size) return relative(language).format(-Math.floor(passed / size), unit);
  }
  return relative(language).format(0, "second");
}

/** `2 d 4 h`: the two largest non-zero units. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

/** The exact time with its time zone. */
export function exact(at: number, language: string): string {
  return full(language).format(at);
}

/** A date: `15 Nov 2026`. */
export function day(at: number, language: string): string {
  return dated(language).format(at);
}

/** The time of day, with the date unless it is today. */
export function clock(at: number, now: number, language: string): string {
  const today = new Date(at).toDateString() === new Date(now).toDateString();
  return (today ? ofToday : ofAnotherDay)(language).format(at);
}

const fractions = [0, 1, 2].map((digits) =>
  cached(
    (language) => new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }),
  ),
);

/** A number with a fixed number of fraction digits. */
function fixed(value: number, digits: 0 | 1 | 2, language: string): string {
  return fractions[digits]?.(language).format(value) ?? "";
}

/** A response time: `84 ms`, `1.24 s`. */
export function millis(ms: number, language: string): string {
  if (ms < 10) return `${fixed(ms, 1, language)} ms`;
  if (ms < 1000) return `${fixed(ms, 0, language)} ms`;
  return `${fixed(ms / 1000, ms < 10_000 ? 2 : 1, language)} s`;
}

/** A duration in seconds: `60 s`, `5 min`, `1 h`. */
export function interval(seconds: number): string {
  return span(seconds * 1000);
}

const percents = cached((language) => new Intl.NumberFormat(language, { maximumFractionDigits: 2 }));

/** An uptime: `99.98 %`. Rounded down, so that 100 means never down. */
export function percent(value: number, language: string): string {
  return `${percents(language).format(Math.floor(value * 100 + 1e-6) / 100)} %`;
}
