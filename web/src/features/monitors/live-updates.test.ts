import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { describe, expect, test, vi } from "vitest";
import type { HeartbeatStatus, MonitorStatus } from "../../shared/api/closed-sets";
import { stateOf, type Heartbeat, type MonitorRow } from "./data";
import { after, appended, apply, type Beat } from "./live-updates";

const heartbeat = (second: number, status: HeartbeatStatus = "up"): Heartbeat => ({
  at: `2026-11-15T09:30:${String(second).padStart(2, "0")}.000Z`,
  status,
  health: status,
  message: `beat ${second}`,
  load_time: second,
  phases: {},
  regions: [],
});

const beat = (second: number, status: "up" | "down" = "up", previous: MonitorStatus | null = null): Beat => ({
  monitorid: "a",
  status,
  previous_status: previous,
  heartbeat: heartbeat(second, status),
});

const monitor = (id: string): MonitorRow => ({
  monitorid: id,
  type: "ping",
  isactive: true,
  health: "up",
  name: id,
  notifiers: [],
  heartbeat_interval: 60,
  target: "",
  tags: [],
  status: "up",
  status_since: "2026-11-15T00:00:00.000Z",
  last_message: "",
});

describe("live events", () => {
  test("a row shows the newest heartbeat", () => {
    const [a] = after([monitor("a")], new Map([["a", [beat(1), beat(2)]]]));
    expect(a).toMatchObject({ status: "up", last_message: "beat 2", load_time: 2, last_check: heartbeat(2).at });
    expect(a?.status_since).toBe("2026-11-15T00:00:00.000Z");
  });

  test("a status change sets its time, also if more heartbeats follow", () => {
    const events = [beat(1), beat(2, "down", "up"), beat(3, "down")];
    const [a] = after([monitor("a")], new Map([["a", events]]));
    expect(a).toMatchObject({ status: "down", status_since: heartbeat(2).at });
  });

  test("a check that could not run is not the last check, and says why until one runs", () => {
    const fault = { ...beat(2), heartbeat: { ...heartbeat(2, "unknown"), message: "blocked by policy", load_time: null } };
    const [blocked] = after([monitor("a")], new Map([["a", [beat(1), fault]]]));
    expect(blocked).toMatchObject({ blocked: "blocked by policy", last_check: heartbeat(1).at, load_time: 1 });
    expect(blocked && stateOf(blocked)).toBe("blocked");
    const [checked] = after(blocked ? [blocked] : [], new Map([["a", [beat(3)]]]));
    expect(checked && stateOf(checked)).toBe("up");
  });

  test("a monitor that is down stays down while checks cannot run, and a paused one paused", () => {
    expect(stateOf({ ...monitor("a"), status: "down", blocked: "blocked by policy" })).toBe("down");
    expect(stateOf({ ...monitor("a"), isactive: false, blocked: "blocked by policy" })).toBe("paused");
  });

  test("rows without a heartbeat are not rendered again", () => {
    const list = [monitor("a"), monitor("b")];
    expect(after(list, new Map([["a", [beat(1)]]]))[1]).toBe(list[1]);
  });

  test("an outage that begins while alerts are fetched for the first time makes them be fetched again", async () => {
    const client = new QueryClient();
    const answers: ((read: string[]) => void)[] = [];
    const queryFn = () => new Promise<string[]>((resolve) => answers.push(resolve));
    const observer = new QueryObserver(client, { queryKey: ["alerts", "a"], queryFn });
    const unsubscribe = observer.subscribe(() => undefined);
    apply(client, new Map([["a", [beat(1, "down", "up")]]]));
    answers[0]?.([]);
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.(["the outage"]);
    await vi.waitFor(() => expect(observer.getCurrentResult().data).toEqual(["the outage"]));
    unsubscribe();
  });

  test("a heartbeat that arrives while the list is being fetched is not lost", async () => {
    const client = new QueryClient();
    let answer: (read: Heartbeat[]) => void = () => undefined;
    const queryFn = () => new Promise<Heartbeat[]>((resolve) => (answer = resolve));
    const reading = client.query({ queryKey: ["beats", "a", 3], queryFn });
    apply(client, new Map([["a", [beat(2)]]]));
    // Requested before the check, returned after it.
    answer([heartbeat(1)]);
    await reading;
    await Promise.resolve();
    expect(client.getQueryData(["beats", "a", 3])).toEqual([heartbeat(1), heartbeat(2)]);
    client.clear();
  });

  test("a heartbeat that a row already includes does not change it back", () => {
    const row = { ...monitor("a"), status: "down" as const, last_check: heartbeat(3).at };
    expect(after([row], new Map([["a", [beat(2)]]]))[0]).toBe(row);
  });

  test("a list that is being fetched again gets the heartbeats of the time", async () => {
    const client = new QueryClient();
    let answer: (read: MonitorRow[]) => void = () => undefined;
    const queryFn = () => new Promise<MonitorRow[]>((resolve) => (answer = resolve));
    client.setQueryData(["monitors"], [monitor("a")]);
    const reading = client.query({ queryKey: ["monitors"], queryFn });
    apply(client, new Map([["a", [beat(2, "down", "up")]]]));
    expect(client.getQueryData<MonitorRow[]>(["monitors"])).toMatchObject([{ status: "down" }]);
    answer([monitor("a")]);
    await reading;
    await Promise.resolve();
    expect(client.getQueryData<MonitorRow[]>(["monitors"])).toMatchObject([{ status: "down" }]);
    client.clear();
  });

  test("bars show the newest heartbeats, each of them once", () => {
    const old = [heartbeat(1), heartbeat(2), heartbeat(3)];
    expect(appended(old, [beat(3), beat(4)], 3)).toEqual([heartbeat(2), heartbeat(3), heartbeat(4)]);
    expect(appended(old, [beat(3)], 3)).toBe(old);
  });
});
