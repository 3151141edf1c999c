import { describe, expect, test } from "vitest";
import type { MonitorRow } from "../data";
import { countStates, groupsOf, keyOf, Ranks, searchOf, shown, tagsOf, viewOf } from "./view";

function monitor(name: string, extra: Partial<MonitorRow> = {}): MonitorRow {
  return {
    monitorid: name,
    type: "http",
    isactive: true,
    health: extra.status ?? "up",
    name,
    target: "",
    notifiers: [],
    heartbeat_interval: 60,
    tags: [],
    status: "up",
    last_message: "",
    ...extra,
  };
}

const list = [
  monitor("web 10", { tags: ["prod"], load_time: 12 }),
  monitor("web 9", { status: "down", target: "db.example.com:5432", type: "tcp", load_time: 900 }),
  monitor("api", { isactive: false, status: "down", tags: ["prod", "eu"] }),
  monitor("new", { status: "pending" }),
];

const names = (query: string) => shown(list, viewOf(new URLSearchParams(query))).map((one) => one.name);

describe("the list's view", () => {
  test("monitors that are down come first, paused ones last", () => {
    expect(names("")).toEqual(["web 9", "new", "web 10", "api"]);
  });

  test("names are sorted numerically", () => {
    expect(names("sort=name")).toEqual(["api", "new", "web 9", "web 10"]);
  });

  test("the slowest come first when sorted by response time", () => {
    expect(names("sort=load_time").slice(0, 2)).toEqual(["web 9", "web 10"]);
  });

  test("every word of a search must be found in name, target or tags", () => {
    expect(names("q=WEB")).toEqual(["web 9", "web 10"]);
    expect(names("q=example 5432")).toEqual(["web 9"]);
    expect(names("q=prod api")).toEqual(["api"]);
    expect(names("q=nothing")).toEqual([]);
  });

  test("filters are combined", () => {
    expect(names("tag=prod&status=paused")).toEqual(["api"]);
    expect(names("type=tcp&status=up")).toEqual([]);
  });

  test("an unknown value in the URL is ignored", () => {
    expect(names("status=sleepy&type=gopher&sort=random")).toHaveLength(4);
  });

  test("a view survives the round trip through the URL", () => {
    const query = "q=a+b&status=down&type=dns&tag=x%2Cy&sort=name&group=tag";
    expect(searchOf(viewOf(new URLSearchParams(query))).toString()).toBe(query);
    expect(searchOf(viewOf(new URLSearchParams())).toString()).toBe("");
  });

  test("the order by name is computed again only when names or monitors change", () => {
    const ranks = Ranks.of(list);
    expect(
      Ranks.of(
        list.map((one) => ({ ...one, status: "down" })),
        ranks,
      ),
    ).toBe(ranks);
    expect(Ranks.of(list.slice(1), ranks)).not.toBe(ranks);
    expect(
      Ranks.of(
        list.map((one) => ({ ...one, name: `${one.name}!` })),
        ranks,
      ),
    ).not.toBe(ranks);
  });

  test("counts and tags include all monitors", () => {
    expect(countStates(list)).toEqual({ down: 1, degraded: 0, blocked: 0, pending: 1, up: 1, paused: 1 });
    expect(tagsOf(list)).toEqual(["eu", "prod"]);
  });

  test("a monitor is listed under each of its tags, untagged ones at the end", () => {
    const text = (closed: string[]) =>
      groupsOf(list, new Set(closed)).map((line) =>
        "group" in line ? `${line.group.tag ?? "none"}: ${line.group.total}` : line.monitor.name,
      );
    expect(text([])).toEqual(["eu: 1", "api", "prod: 2", "web 10", "api", "none: 2", "web 9", "new"]);
    expect(text([keyOf("prod"), keyOf(null)])).toEqual(["eu: 1", "api", "prod: 2", "none: 2"]);
    const keys = groupsOf(list, new Set()).map((line) => line.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
