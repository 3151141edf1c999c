/** The time at the end of a snooze, as the browser's field for it has it. */

const MINUTE = 60_000;
const MAX = 30 * 86_400_000;

/** `2026-11-18T09:00` in the reader's time zone. */
export function toField(at: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The next morning: most alerts are snoozed for the night. */
export function suggestedEnd(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}

/** The end as an instant; null unless it is a minute to 30 days from now. */
export function parseEnd(field: string, now: number): string | null {
  const at = new Date(field).getTime();
  return at >= now + MINUTE && at <= now + MAX ? new Date(at).toISOString() : null;
}
