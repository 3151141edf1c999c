import { describe, expect, test } from "vitest";
import type { Monitor } from "../data";
import { countStates, Ranks, searchOf, shown, tagsOf, viewOf } from "./view";

function monitor(name: string, extra: Partial<Monitor> = {}): Monitor {
  return {
    monitorid: name,
    type: "http",
    isactive: true,
    name,
    http: null,
    notifiers: [],
    heartbeat_interval: 60,
    upside_down_mode: false,
    tags: [],
    status: "up",
    last_message: "",
    created: "",
    modified: "",
    retries: 1,
    ...extra,
  };
}

const list = [
  monitor("web 10", { tags: ["prod"], load_time: 12 }),
  monitor("web 9", { status: "down", hostname: "db.example.com", port: "5432", type: "tcp", load_time: 900 }),
  monitor("api", { isactive: false, status: "down", tags: ["prod", "eu"] }),
  monitor("new", { status: "pending" }),
];

const names = (query: string) => shown(list, viewOf(new URLSearchParams(query))).map((one) => one.name);

describe("the list's view", () => {
  test("what is down comes first, what is paused last, whatever its last status", () => {
    expect(names("")).toEqual(["web 9", "new", "web 10", "api"]);
  });

  test("names sort as people count", () => {
    expect(names("sort=name")).toEqual(["api", "new", "web 9", "web 10"]);
  });

  test("the slowest come first when sorted by load time", () => {
    expect(names("sort=load_time").slice(0, 2)).toEqual(["web 9", "web 10"]);
  });

  test("every word of a search must be found in name, target or tags", () => {
    expect(names("q=WEB")).toEqual(["web 9", "web 10"]);
    expect(names("q=example 5432")).toEqual(["web 9"]);
    expect(names("q=prod api")).toEqual(["api"]);
    expect(names("q=nothing")).toEqual([]);
  });

  test("filters add up", () => {
    expect(names("tag=prod&status=paused")).toEqual(["api"]);
    expect(names("type=tcp&status=up")).toEqual([]);
  });

  test("an unknown word in the address is no filter", () => {
    expect(names("status=sleepy&type=gopher&sort=random")).toHaveLength(4);
  });

  test("the address and the view are two forms of the same", () => {
    const query = "q=a+b&status=down&type=dns&tag=x%2Cy&sort=name";
    expect(searchOf(viewOf(new URLSearchParams(query))).toString()).toBe(query);
    expect(searchOf(viewOf(new URLSearchParams())).toString()).toBe("");
  });

  test("the order by name is worked out again only when a name or a monitor came or went", () => {
    const ranks = Ranks.of(list);
    expect(Ranks.of(list.map((one) => ({ ...one, status: "down" })), ranks)).toBe(ranks);
    expect(Ranks.of(list.slice(1), ranks)).not.toBe(ranks);
    expect(Ranks.of(list.map((one) => ({ ...one, name: `${one.name}!` })), ranks)).not.toBe(ranks);
  });

  test("counts and tags are of all monitors", () => {
    expect(countStates(list)).toEqual({ down: 1, pending: 1, up: 1, paused: 1 });
    expect(tagsOf(list)).toEqual(["eu", "prod"]);
  });
});
