/** A time as the browser's field for it has it. */

const MINUTE = 60_000;

/** `2026-11-18T09:00` in the reader's time zone. */
export function toField(at: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The next morning. */
export function tomorrowMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}

/** The time as an instant; null unless it is at least a minute after `now`, and at most `days` after it. */
export function parseField(field: string, now: number, days: number): string | null {
  const at = new Date(field).getTime();
  return at >= now + MINUTE && at <= now + days * 86_400_000 ? new Date(at).toISOString() : null;
}
