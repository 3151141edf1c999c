import { expect, test } from "vitest";
import { changesOf, conflictsOf } from "./changes";
import { bodyOf, initial } from "./values";

const base = { ...initial("http"), name: "shop", "http.url": "https://example.com" };

test("only the changed fields are sent, also within http", () => {
  const after = { ...base, heartbeat_interval: "5m", "http.method": "POST" as const };
  expect(changesOf(bodyOf(base), bodyOf(after))).toEqual({ heartbeat_interval: 300, http: { method: "POST" } });
  expect(changesOf(bodyOf(base), bodyOf(base))).toEqual({});
});

test("a new type is sent with all of its settings", () => {
  const after = { ...base, type: "tcp" as const, hostname: "db", port: "5432" };
  expect(changesOf(bodyOf(base), bodyOf(after))).toMatchObject({ type: "tcp", hostname: "db", port: "5432", name: "shop" });
});

test("a change of someone else is reported, and whether it was changed here too", () => {
  const theirs = { ...base, name: "web shop", retries: 3, tags: ["eu"] };
  const mine = { ...base, name: "store", tags: ["eu"] };
  expect(conflictsOf(base, theirs, mine)).toEqual([
    { field: "name", theirs: "web shop", mine: "store", both: true },
    { field: "retries", theirs: 3, mine: 1, both: false },
  ]);
});
