/** Where to go after the login: the requested page, if it is one of this site. */
export function safeRedirect(search: URLSearchParams): string {
  const wanted = search.get("next") ?? "/";
  return wanted.startsWith("/") && !wanted.startsWith("//") && !wanted.startsWith("/\\") ? wanted : "/";
}
