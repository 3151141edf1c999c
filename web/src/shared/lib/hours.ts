/** Hours of the week in words and in requests. */
import { days } from "../api/alerting-sets";
import type { components } from "../api/schema";

type Hours = components["schemas"]["Hours"];

/** As the service takes them: midnight as the end of a day is 24:00. */
export function hoursBody(hours: readonly Hours[]): Hours[] {
  return hours.map((span) => ({ ...span, to: span.to === "00:00" ? "24:00" : span.to }));
}

/** What the service could not name a field for: a time that is not complete. */
export function incompleteHours(hours: readonly Hours[], name: string, text: string): Record<string, string> {
  const missing = hours.flatMap((span, place) =>
    (["from", "to"] as const).filter((part) => span[part] === "").map((part) => `${name}.${place}.${part}`),
  );
  return Object.fromEntries(missing.map((field) => [field, text]));
}

/** `Mon–Fri 22:00–06:00`; consecutive days are a range. */
export function hoursText({ days: chosen, from, to }: Hours, dayName: (place: number) => string): string {
  const time = `${from}–${to}`;
  const places = days.flatMap((day, place) => (chosen.includes(day) ? [place] : []));
  if (places.length === 0 || places.length === days.length) return time;
  const runs: number[][] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run && run.at(-1) === place - 1) run.push(place);
    else runs.push([place]);
  }
  const words = runs.flatMap((run) => {
    const [first = 0, last = 0] = [run[0], run.at(-1)];
    return run.length > 2 ? [`${dayName(first)}–${dayName(last)}`] : run.map(dayName);
  });
  return `${words.join(", ")} ${time}`;
}
