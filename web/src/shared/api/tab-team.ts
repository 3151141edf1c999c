/**
 * The team that this tab shows, so that two tabs can show two teams. Every call names it; without one, the service
 * uses the team of the session.
 */
const STORAGE_KEY = "wakeful.team";

export function tabTeam(): string | null {
  return sessionStorage.getItem(STORAGE_KEY);
}

/** The URL of a download, with the team of this tab: a browser opens it without the header that calls have. */
export function withTabTeam(url: string): string {
  const team = tabTeam();
  return team === null ? url : `${url}&team=${encodeURIComponent(team)}`;
}

export function setTabTeam(groupid: string | null): void {
  if (groupid === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, groupid);
}
