/**
 * The texts of the first screen, which are loaded before anything is shown. All other texts are in en.ts.
 * Other languages have the same keys; see first.de.ts.
 */
import type { HeartbeatStatus, MonitorStatus, MonitorType } from "../api/closed-sets";

const monitorCount = (count: number) => (count === 1 ? "1 monitor" : `${count} monitors`);

export const first = {
  common: {
    loading: "Loading…",
    retry: "Try again",
    reload: "Reload the page",
    save: "Save",
    cancel: "Cancel",
    close: "Close",
    dismiss: "Dismiss",
    never: "never",
    otherLanguage: "Deutsch",
  },
  nav: {
    label: "Main",
    skip: "Skip to content",
    monitors: "Monitors",
    alerts: "Alerts",
    maintenance: "Maintenance",
    oncall: "On call",
    statuspages: "Status pages",
    notifiers: "Notifiers",
    billing: "Billing",
    team: "Team",
    settings: "Settings",
    search: "Search",
    wallboard: "Wallboard",
    newMonitor: "New monitor",
    account: (email: string, team: string) => `Account menu of ${email}, team ${team}`,
    roles: { owner: "Owner", admin: "Admin", editor: "Editor", responder: "Responder", viewer: "Viewer", billing: "Billing" },
    logIn: "Log in again",
  },
  errors: {
    offline: "Can’t reach the server. Check your connection and try again.",
    noNetwork: "You’re offline. What you see may be out of date.",
    unexpected: "Something unexpected happened on this page. Reload it and try again.",
    crashed: "Something went wrong",
    crashedHelp: "Reloading usually helps. Your monitors are still being checked.",
    updated: "Wakeful has been updated",
    notLoaded: "This page couldn’t load",
    notLoadedHelp: {
      updated: "Reload the page to get the new version.",
      unchanged: "Try loading it again.",
      away: "The server isn’t responding. The page opens automatically as soon as it does.",
    },
    notFound: "Page not found",
    notFoundHelp: "It may have been deleted, or it belongs to another team.",
    httpStatus: (status: number) => `The server couldn’t process the request (HTTP ${status}). Try again in a moment.`,
  },
  monitors: {
    title: "Monitors",
    live: "Live",
    liveHelp: "Changes appear as they happen.",
    notLive: "Connecting…",
    notLiveHelp: "Live updates are off; refreshing every 15 seconds.",
    states: { down: "Down", degraded: "Degraded", blocked: "Can’t check", pending: "Pending", up: "Up", paused: "Paused" } satisfies Record<
      MonitorStatus | "degraded" | "blocked" | "paused",
      string
    >,
    results: {
      up: "Up",
      degraded: "Degraded",
      down: "Down",
      unknown: "Unknown",
      maintenance: "Maintenance",
      unreachable: "Unreachable",
    } satisfies Record<HeartbeatStatus | "degraded" | "maintenance" | "unreachable", string>,
    types: {
      http: "HTTP",
      http_keyword: "Keyword",
      ping: "Ping",
      tcp: "TCP",
      dns: "DNS",
      tls: "TLS",
      domain: "Domain",
      api: "Push",
      group: "Group",
    } satisfies Record<MonitorType, string>,
    byStatus: "Filter by status",
    search: "Search by name, address or tag",
    type: "Type",
    anyType: "All types",
    tag: "Tag",
    anyTag: "All tags",
    views: "Views",
    byTag: "Group by tag",
    untagged: "Untagged",
    inGroup: monitorCount,
    sort: "Sort by",
    sorts: { status: "Status", name: "Name", load_time: "Slowest first", check: "Last check", changed: "Last changed" },
    columns: { name: "Name", tags: "Tags", beats: "Recent checks", load: "Response time", check: "Last check", uptime: "Uptime" },
    select: (name: string) => `Select ${name}`,
    selectAll: "Select all",
    actions: (name: string) => `Actions for ${name}`,
    uptimeOf: (period: string) => `Uptime, last ${period}`,
    barsLabel: (count: number, failed: number, planned: number) =>
      count === 0
        ? "No checks yet"
        : count === 1 && planned === 0
          ? `Last check ${failed === 0 ? "passed" : "failed"}`
          : `Last ${count} checks, ${failed === 0 ? "none" : failed} failed${planned === 0 ? "" : `, ${planned} in maintenance`}`,
    none: "No monitors yet",
    noneHelp: "Editors of your team can add them.",
    noMatch: "No monitors match",
    showAll: "Clear filters",
    moreActions: "More actions",
    inverted: "Inverted",
    invertedHelp: "Alert when this becomes reachable.",
    nobody: "No one is notified when this goes down.",
    regionMissing: (region: string, monitors: number, problem: string) =>
      `No probe online in ${region}: ${monitors === 1 ? "1 monitor is" : `${monitors} monitors are`} not checked from there (${problem}).`,
  },
};

export type FirstTexts = typeof first;
