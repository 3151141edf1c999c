/** Times of shifts in words. */

function formatter(locale: string, zone: string): Intl.DateTimeFormat {
  const date = { weekday: "short", day: "numeric", month: "short" } as const;
  return new Intl.DateTimeFormat(locale, { ...date, hour: "2-digit", minute: "2-digit", timeZone: zone });
}

/** `Mon, 16 Nov, 09:00`. */
export function timeText(at: number, locale: string, zone: string): string {
  return formatter(locale, zone).format(at);
}

/** `Mon 16 Nov, 09:00 – Mon 23 Nov, 09:00`, without the second date where it is the same. */
export function spanText({ from, to }: { from: number; to: number }, locale: string, zone: string): string {
  return formatter(locale, zone).formatRange(from, to);
}
