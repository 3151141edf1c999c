/**
 * Live updates. With many monitors, events arrive by the hundred, so they are
 * collected briefly and applied together. Without a connection, the lists are
 * polled, less often in a hidden tab.
 */
import { hashKey, useQueryClient, type QueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { GET, unwrap } from "../../shared/api/client";
import type { MonitorStatus } from "../../shared/api/closed-sets";
import { notifierSummariesQuery } from "../../shared/api/notifiers";
import { meQuery } from "../../shared/api/session";
import { tabTeam } from "../../shared/api/tab-team";
import { withoutBidiControls } from "../../shared/lib/bidi";
import {
  ALERTS,
  forget,
  monitorQuery,
  monitorsQuery,
  rowsWithStatus,
  show,
  type Heartbeat,
  type Monitor,
  type MonitorRow,
  type Shown,
} from "./data";
import { openEventStream } from "./event-stream";
import { BEATS, summaryQuery, type Summary } from "./summary";

const FLUSH_DELAY = 250;
/** With more changes at once than this, refetching everything is cheaper. */
const MAX_SINGLE_FETCHES = 20;
const POLL_INTERVAL = 15_000;
/** A hidden tab only has to update its title. */
const HIDDEN_POLL_INTERVAL = 60_000;

/** When the health of notifiers is fetched after a change of a status: a delivery may fail at once, or with its timeout. */
const HEALTH_DELAYS = [3_000, 30_000];

/** The events about status pages and incidents, whose queries have the same names. */
const PAGE_EVENTS = ["statuspage", "incident"];

export interface Beat {
  monitorid: string;
  status: MonitorStatus;
  previous_status: MonitorStatus | null;
  /** Absent from older services. */
  health?: Monitor["health"];
  heartbeat: Heartbeat;
}

let live = false;
const listeners = new Set<() => void>();

function setLive(to: boolean) {
  live = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLive(): boolean {
  return useSyncExternalStore(subscribe, () => live);
}

/** Applies events to the query cache while the app is open, if the user may see them. */
export function useEvents(enabled: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    const stop = listen(client);
    return () => {
      stop();
      setLive(false);
    };
  }, [client, enabled]);
}

function listen(client: QueryClient): () => void {
  let collected = new Map<string, Beat[]>();
  let saved = new Set<string>();
  let deleted = new Set<string>();
  let alerted = false;
  let maintained = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let healthTimers: ReturnType<typeof setTimeout>[] = [];
  let lost = false;
  let opened = false;

  const renewHealth = () => void client.invalidateQueries({ queryKey: notifierSummariesQuery.queryKey });
  const renewHealthSoon = () => {
    healthTimers.forEach(clearTimeout);
    healthTimers = HEALTH_DELAYS.map((delay) => setTimeout(renewHealth, delay));
  };

  const flush = () => {
    timer = undefined;
    const [beats, changed, gone] = [collected, saved, deleted];
    collected = new Map<string, Beat[]>();
    saved = new Set<string>();
    deleted = new Set<string>();
    apply(client, beats);
    if (alerted) refetch(client, ALERTS);
    alerted = false;
    if (maintained) renew(client);
    maintained = false;
    if (isAnyChanged(beats)) renewHealthSoon();
    if (gone.size > 0) forget(client, gone);
    void read(
      client,
      [...changed].filter((id) => !gone.has(id)),
    );
  };
  const soon = () => (timer ??= setTimeout(flush, FLUSH_DELAY));

  const on = (source: EventSource, name: string, handle: (data: unknown) => void) =>
    source.addEventListener(name, (event: MessageEvent<string>) => {
      handle(withoutBidiControls(JSON.parse(event.data)));
      soon();
    });
  const stop = openEventStream(`/api/v1/events?team=${tabTeam()}`, {
    listen: (source) => {
      on(source, "heartbeat", (data) => {
        const beat = data as Beat;
        const some = collected.get(beat.monitorid);
        if (some) some.push(beat);
        else collected.set(beat.monitorid, [beat]);
      });
      on(source, "saved", (data) => saved.add((data as Beat).monitorid));
      on(source, "deleted", (data) => deleted.add((data as Beat).monitorid));
      on(source, "alert", () => (alerted = true));
      on(source, "maintenance", () => (maintained = true));
      source.addEventListener("missed", () => renew(client));
      for (const name of PAGE_EVENTS) on(source, name, () => void client.invalidateQueries({ queryKey: [name] }));
    },
    opened: () => {
      if (lost) renew(client);
      else if (!opened) void catchUp(client);
      opened = true;
      lost = false;
      setLive(true);
    },
    lost: () => {
      // The stream also ends with the session; this finds out at once instead of at the next request.
      if (!lost && !document.hidden) void client.invalidateQueries({ queryKey: meQuery.queryKey });
      lost = true;
      setLive(false);
    },
  });
  const poll = setInterval(() => {
    if (!live && navigator.onLine && !document.hidden) renew(client);
  }, POLL_INTERVAL);
  const pollHidden = setInterval(() => {
    if (!live && navigator.onLine && document.hidden) void client.invalidateQueries({ queryKey: monitorsQuery.queryKey });
  }, HIDDEN_POLL_INTERVAL);
  return () => {
    clearTimeout(timer);
    healthTimers.forEach(clearTimeout);
    clearInterval(poll);
    clearInterval(pollHidden);
    stop();
  };
}

function renew(client: QueryClient) {
  for (const key of ["monitors", "monitor", "beats", "summary", "alerts", "maintenance", ...PAGE_EVENTS])
    void client.invalidateQueries({ queryKey: [key] });
}

/**
 * Fetches what has changed between the first response and the opening of the stream. With many monitors, reading all
 * again takes long, and those that are not up are few.
 */
export async function catchUp(client: QueryClient) {
  void client.invalidateQueries({ queryKey: ["monitor"] });
  const list = client.getQueryCache().get(hashKey(monitorsQuery.queryKey));
  if (!list || (list.state.data === undefined && list.state.fetchStatus !== "fetching")) return;
  try {
    if (list.state.fetchStatus === "fetching") await list.fetch();
    const [down, pending] = await Promise.all([rowsWithStatus("down"), rowsWithStatus("pending")]);
    const statuses = new Map([...down, ...pending].map(({ monitorid, status }) => [monitorid, status]));
    const listed = client.getQueryData(monitorsQuery.queryKey) ?? [];
    const changed = listed.filter(({ monitorid, status }) => status !== (statuses.get(monitorid) ?? "up"));
    await read(
      client,
      changed.map(({ monitorid }) => monitorid),
    );
    for (const { monitorid } of changed) refetch(client, summaryQuery(monitorid).queryKey);
    if (changed.length > 0) refetch(client, ALERTS);
  } catch {
    // The server is away: the stream ends too, and its next opening renews everything.
  }
}

/** Fetches monitors that have been saved or changed. */
async function read(client: QueryClient, ids: string[]) {
  if (ids.length > MAX_SINGLE_FETCHES) {
    renew(client);
    return;
  }
  const team = tabTeam();
  for (const id of ids) {
    try {
      const params = { path: { monitorid: id } };
      const { monitor } = await unwrap(GET("/api/v1/monitor/{monitorid}/get", { params }));
      if (team === tabTeam()) show(client, monitor);
    } catch {
      // Deleted meanwhile or unreachable: the next event or poll will show.
    }
  }
}

/** Updates a query. A response that is being fetched may be older than the event, so it is updated on arrival. */
function change<T>(client: QueryClient, key: QueryKey, made: (read: T) => T) {
  const set = () => client.setQueryData<T>(key, (read) => read && made(read));
  const query = client.getQueryCache().get(hashKey(key));
  if (query?.state.data !== undefined) set();
  // If the request fails, the next one includes the event.
  if (query?.state.fetchStatus === "fetching") query.fetch().then(set, () => undefined);
}

export function apply(client: QueryClient, collected: Map<string, Beat[]>) {
  if (collected.size === 0) return;
  change<MonitorRow[]>(client, monitorsQuery.queryKey, (old) => after(old, collected));
  for (const [id, some] of collected) {
    client.setQueryData(monitorQuery(id).queryKey, (old) => old && one(old, some));
    for (const [key] of client.getQueriesData({ queryKey: ["beats", id] })) {
      change<Heartbeat[]>(client, key, (old) => appended(old, some, key[2] as number));
    }
    const { queryKey } = summaryQuery(id);
    change<Summary>(client, queryKey, (old) => ({ ...old, beats: appended(old.beats, some, BEATS) }));
    // An outage starts or ends, which affects uptime too.
    if (some.some(changesStatus)) refetch(client, queryKey);
  }
  if (isAnyChanged(collected)) refetch(client, ALERTS);
}

/** Fetches queries again, also those whose first response is still on its way: it may be older than the event. */
function refetch(client: QueryClient, queryKey: QueryKey) {
  const first = client
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: "fetching" })
    .filter((query) => query.state.data === undefined);
  for (const query of first) {
    const again = () => client.invalidateQueries({ queryKey: query.queryKey, exact: true });
    query.fetch().then(again, () => undefined);
  }
  void client.invalidateQueries({ queryKey });
}

function isAnyChanged(collected: ReadonlyMap<string, Beat[]>): boolean {
  return [...collected.values()].flat().some(changesStatus);
}

/** Whether the heartbeat changed the status. */
function changesStatus(beat: Beat): boolean {
  return beat.previous_status !== null && beat.previous_status !== beat.status;
}

/** The fields of a monitor that a heartbeat changes. */
type Status = Pick<MonitorRow, "status" | "status_since" | "last_check" | "last_message" | "load_time" | "blocked" | "health">;

/** Applies heartbeats to the list; rows without one remain the same objects. */
export function after(list: MonitorRow[], collected: ReadonlyMap<string, Beat[]>): MonitorRow[] {
  return list.map((monitor) => {
    const some = collected.get(monitor.monitorid);
    return some ? one(monitor, some) : monitor;
  });
}

/** The monitor after some heartbeats; those that it already includes are ignored. */
function one<M extends Status>(monitor: M, received: Beat[]): M {
  const checkedAt = Date.parse(monitor.last_check ?? "") || 0;
  const some = received.filter(({ heartbeat }) => Date.parse(heartbeat.at) >= checkedAt);
  const last = some.at(-1);
  if (!last) return monitor;
  const turn = some.findLast(changesStatus);
  const checked = some.findLast(({ heartbeat }) => heartbeat.status !== "unknown");
  return {
    ...monitor,
    status: last.status,
    health: last.health ?? last.status,
    status_since: turn ? turn.heartbeat.at : monitor.status_since,
    last_message: last.heartbeat.message,
    blocked: last.heartbeat.status === "unknown" ? last.heartbeat.message : null,
    // A check that could not run is none.
    ...(checked && { last_check: checked.heartbeat.at, load_time: checked.heartbeat.load_time }),
  };
}

/** Appends heartbeats, without duplicates, and returns the newest `limit`. */
export function appended<B extends Shown>(old: B[], some: readonly { heartbeat: B }[], limit: number): B[] {
  const newest = old.at(-1)?.at ?? "";
  const fresh = some.map((beat) => beat.heartbeat).filter((heartbeat) => heartbeat.at > newest);
  return fresh.length === 0 ? old : [...old, ...fresh].slice(-limit);
}
