import { expect, test } from "vitest";
import { batcher } from "./batch";

function counted(maxIds: number) {
  const calls: string[][] = [];
  const ask = batcher<string>(maxIds, (ids) => {
    calls.push(ids);
    if (ids.includes("bad")) return Promise.reject(new Error("refused"));
    return Promise.resolve(new Map(ids.filter((id) => id !== "gone").map((id) => [id, `about ${id}`])));
  });
  return { calls, ask };
}

test("IDs requested at the same time are sent as one request, each once", async () => {
  const { calls, ask } = counted(10);
  expect(await Promise.all(["a", "b", "a"].map(ask))).toEqual(["about a", "about b", "about a"]);
  expect(calls).toEqual([["a", "b"]]);
  await ask("c");
  expect(calls).toHaveLength(2);
});

test("more than the maximum becomes several requests", async () => {
  const { calls, ask } = counted(2);
  await Promise.all(["a", "b", "c"].map(ask));
  expect(calls).toEqual([["a", "b"], ["c"]]);
});

test("an unknown ID is null, and a failure rejects its own batch only", async () => {
  const { ask } = counted(1);
  const bad = ask("bad");
  expect(await ask("gone")).toBeNull();
  await expect(bad).rejects.toThrow("refused");
});
