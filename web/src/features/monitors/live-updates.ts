/**
 * What happens, as it happens. Events come by the hundred when many monitors
 * are watched, so they are gathered for a moment and shown together. Without a
 * connection the lists are read again from time to time, unseen ones seldom.
 */
import { hashKey, useQueryClient, type QueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { GET, unwrap } from "../../shared/api/client";
import { me } from "../../shared/api/session";
import { ALERTS, forget, monitor, monitors, show, type Heartbeat, type MonitorRow, type Shown } from "./data";
import { openEventStream } from "./event-stream";
import { BEATS, summary, type Summary } from "./summary";

const GATHER = 250;
/** More changes at once than this, and reading everything again is cheaper. */
const MANY = 20;
const POLL = 15_000;
/** A tab that nobody sees has but its title to keep true. */
const POLL_UNSEEN = 60_000;

export interface Beat {
  monitorid: string;
  status: string;
  previous_status: string | null;
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

/** Keeps what is shown true while the page is open. */
export function useEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const stop = listen(client);
    return () => {
      stop();
      setLive(false);
    };
  }, [client]);
}

function listen(client: QueryClient): () => void {
  let gathered = new Map<string, Beat[]>();
  let saved = new Set<string>();
  let deleted = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lost = false;

  const flush = () => {
    timer = undefined;
    const [beats, changed, gone] = [gathered, saved, deleted];
    gathered = new Map<string, Beat[]>();
    saved = new Set<string>();
    deleted = new Set<string>();
    apply(client, beats);
    if (gone.size > 0) forget(client, gone);
    void read(
      client,
      [...changed].filter((id) => !gone.has(id)),
    );
  };
  const soon = () => (timer ??= setTimeout(flush, GATHER));

  const on = (source: EventSource, name: string, handle: (data: unknown) => void) =>
    source.addEventListener(name, (event: MessageEvent<string>) => {
      handle(JSON.parse(event.data));
      soon();
    });
  const stop = openEventStream("/api/v1/events", {
    listen: (source) => {
      on(source, "heartbeat", (data) => {
        const beat = data as Beat;
        const some = gathered.get(beat.monitorid);
        if (some) some.push(beat);
        else gathered.set(beat.monitorid, [beat]);
      });
      on(source, "saved", (data) => saved.add((data as Beat).monitorid));
      on(source, "deleted", (data) => deleted.add((data as Beat).monitorid));
      source.addEventListener("missed", () => renew(client));
    },
    opened: () => {
      if (lost) renew(client);
      lost = false;
      setLive(true);
    },
    lost: () => {
      // It ends with the session too: that shows at once, and not when something is next asked for.
      if (!lost && !document.hidden) void client.invalidateQueries({ queryKey: me.queryKey });
      lost = true;
      setLive(false);
    },
  });
  const poll = setInterval(() => {
    if (!live && navigator.onLine && !document.hidden) renew(client);
  }, POLL);
  const pollUnseen = setInterval(() => {
    if (!live && navigator.onLine && document.hidden) void client.invalidateQueries({ queryKey: monitors.queryKey });
  }, POLL_UNSEEN);
  return () => {
    clearTimeout(timer);
    clearInterval(poll);
    clearInterval(pollUnseen);
    stop();
  };
}

function renew(client: QueryClient) {
  for (const key of ["monitors", "monitor", "beats", "summary", "alerts"]) void client.invalidateQueries({ queryKey: [key] });
}

/** Fetches what somebody saved, the members of this team or this very page. */
async function read(client: QueryClient, ids: string[]) {
  if (ids.length > MANY) {
    renew(client);
    return;
  }
  for (const id of ids) {
    try {
      const params = { path: { monitorid: id } };
      show(client, (await unwrap(GET("/api/v1/monitor/{monitorid}/get", { params }))).monitor);
    } catch {
      // Deleted since, or out of reach: the next event or poll will tell.
    }
  }
}

/** Changes what is shown. What is being read right now may be older than the event: it is changed when it is there. */
function change<T>(client: QueryClient, key: QueryKey, made: (read: T) => T) {
  const set = () => client.setQueryData<T>(key, (read) => read && made(read));
  const query = client.getQueryCache().get(hashKey(key));
  if (query?.state.data !== undefined) set();
  // When it cannot be read, whoever tries again gets the event with it.
  else if (query?.state.fetchStatus === "fetching") query.fetch().then(set, () => undefined);
}

export function apply(client: QueryClient, gathered: Map<string, Beat[]>) {
  if (gathered.size === 0) return;
  client.setQueryData(monitors.queryKey, (old) => old && after(old, gathered));
  for (const [id, some] of gathered) {
    client.setQueryData(monitor(id).queryKey, (old) => old && one(old, some));
    for (const [key] of client.getQueriesData({ queryKey: ["beats", id] })) {
      change<Heartbeat[]>(client, key, (old) => appended(old, some, key[2] as number));
    }
    const { queryKey } = summary(id);
    change<Summary>(client, queryKey, (old) => ({ ...old, beats: appended(old.beats, some, BEATS) }));
    // An outage begins or ends: the figures change more than a heartbeat changes them.
    if (some.some(turned)) void client.invalidateQueries({ queryKey });
  }
  if ([...gathered.values()].flat().some(turned)) void client.invalidateQueries({ queryKey: ALERTS });
}

/** Whether the status became another with it. */
function turned(beat: Beat): boolean {
  return beat.previous_status !== null && beat.previous_status !== beat.status;
}

/** What a heartbeat changes of a monitor, in a list or alone. */
type Standing = Pick<MonitorRow, "status" | "status_since" | "last_check" | "last_message" | "load_time">;

/** The list after some heartbeats; rows without one stay the very same objects. */
export function after(list: MonitorRow[], gathered: ReadonlyMap<string, Beat[]>): MonitorRow[] {
  return list.map((monitor) => {
    const some = gathered.get(monitor.monitorid);
    return some ? one(monitor, some) : monitor;
  });
}

function one<M extends Standing>(monitor: M, some: Beat[]): M {
  const last = some.at(-1);
  if (!last) return monitor;
  const turn = some.findLast(turned);
  return {
    ...monitor,
    status: last.status,
    status_since: turn ? turn.heartbeat.at : monitor.status_since,
    last_check: last.heartbeat.at,
    last_message: last.heartbeat.message,
    load_time: last.heartbeat.load_time,
  };
}

/** The newest `limit` heartbeats; one that is already there does not come twice. */
export function appended<B extends Shown>(old: B[], some: readonly { heartbeat: B }[], limit: number): B[] {
  const newest = old.at(-1)?.at ?? "";
  const fresh = some.map((beat) => beat.heartbeat).filter((heartbeat) => heartbeat.at > newest);
  return fresh.length === 0 ? old : [...old, ...fresh].slice(-limit);
}
