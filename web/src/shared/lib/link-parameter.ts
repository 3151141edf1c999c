/** A parameter of an emailed link. It is in the fragment, which browsers do not send to servers or in referrers. */
export function linkParameter(field: string): string {
  return new URLSearchParams(window.location.hash.slice(1)).get(field) ?? "";
}
