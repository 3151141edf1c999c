/** A date such as `2026-12-27`, in words. */
export function dateText(date: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(date));
}
