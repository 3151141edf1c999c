/** Durations as people type them: `30s`, `5m`, `1h 30m`, `2 days`; a number alone is seconds. */

/** Seconds per unit, by the first characters of its name in English or German; the most specific first. */
const units: [RegExp, number][] = [
  [/^(s|secs?|seconds?|sek|sekunden?)$/, 1],
  [/^(m|mins?|minutes?|minuten?)$/, 60],
  [/^(h|hrs?|hours?|std|stunden?)$/, 3600],
  [/^(d|days?|tage?n?|t)$/, 86_400],
];

/** The number of seconds, or null if the text is not a duration. */
export function parseDuration(text: string): number | null {
  const words = text.trim().toLowerCase();
  if (/^\d+$/.test(words)) return Number(words);
  if (!/^(\d+([.,]\d+)?\s*[a-z]+\.?\s*)+$/.test(words)) return null;
  const parts = [...words.matchAll(/(\d+(?:[.,]\d+)?)\s*([a-z]+)/g)].map(([, count = "", unit = ""]) => secondsOf(count, unit));
  const total = parts.reduce<number>((sum, part) => sum + part, 0);
  return Number.isInteger(total) ? total : null;
}

function secondsOf(count: string, unit: string): number {
  const size = units.find(([names]) => names.test(unit))?.[1] ?? NaN;
  // Rounded, because 1.1 h is not a whole number of seconds in binary.
  return Math.round(Number(count.replace(",", ".")) * size * 1000) / 1000;
}

const shown: [number, string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** `60 s`, `5 min`, `90 s`: the largest unit that needs no fraction, from two minutes on. */
export function formatDuration(seconds: number): string {
  const [size, unit] = shown.find(([size]) => seconds % size === 0 && (size > 60 || seconds > size)) ?? [1, "s"];
  return `${seconds / size} ${unit}`;
}
