/** Where a login leads: back to where the visitor wanted to go, within this page only. */
export function safeRedirect(search: URLSearchParams): string {
  const wanted = search.get("next") ?? "/";
  return wanted.startsWith("/") && !wanted.startsWith("//") && !wanted.startsWith("/\\") ? wanted : "/";
}
