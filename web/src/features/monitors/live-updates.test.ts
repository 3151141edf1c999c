import { QueryClient } from "@tanstack/react-query";
import { describe, expect, test } from "vitest";
import type { Heartbeat, MonitorRow } from "./data";
import { after, appended, apply, type Beat } from "./live-updates";

const heartbeat = (second: number, status = "up"): Heartbeat => ({
  at: `2026-11-15T09:30:${String(second).padStart(2, "0")}.000Z`,
  status,
  message: `beat ${second}`,
  load_time: second,
  phases: {},
  regions: [],
});

const beat = (second: number, status = "up", previous: string | null = null): Beat => ({
  monitorid: "a",
  status,
  previous_status: previous,
  heartbeat: heartbeat(second, status),
});

const monitor = (id: string): MonitorRow => ({
  monitorid: id,
  type: "ping",
  isactive: true,
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

  test("rows without a heartbeat are not rendered again", () => {
    const list = [monitor("a"), monitor("b")];
    expect(after(list, new Map([["a", [beat(1)]]]))[1]).toBe(list[1]);
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

  test("bars show the newest heartbeats, each of them once", () => {
    const old = [heartbeat(1), heartbeat(2), heartbeat(3)];
    expect(appended(old, [beat(3), beat(4)], 3)).toEqual([heartbeat(2), heartbeat(3), heartbeat(4)]);
    expect(appended(old, [beat(3)], 3)).toBe(old);
  });
});
