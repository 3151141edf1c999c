/** `Mon, 16 Nov, 09:00 – Mon, 23 Nov, 09:00`, without the date where it is the same. */
export function spanText({ from, to }: { from: number; to: number }, locale: string, zone: string): string {
  return new Intl.DateTimeFormat(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  }).formatRange(from, to);
}
