/** Whether the server responds, and with the version of the web app that is running. */

/** `unchanged`: this version. `updated`: another one. `away`: no response, or one of a proxy in its place. */
export type ServerState = "unchanged" | "updated" | "away";

/** How often a page asks again for a server that did not respond. */
export const AWAY_RETRY_INTERVAL = 5_000;

const ASK_TIMEOUT = 10_000;

/** The scripts have a hash of their content in their names, so they identify the version. */
function scriptsOf(page: ParentNode): string {
  return [...page.querySelectorAll('script[type="module"]')].map((script) => script.getAttribute("src")).join();
}

export async function serverState(signal: AbortSignal): Promise<ServerState> {
  try {
    const options: RequestInit = { cache: "no-store", headers: { accept: "text/html" } };
    const response = await fetch("/", { ...options, signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT)]) });
    if (!response.ok) return "away";
    const current = new DOMParser().parseFromString(await response.text(), "text/html");
    return scriptsOf(current) === scriptsOf(document) ? "unchanged" : "updated";
  } catch {
    return "away";
  }
}
