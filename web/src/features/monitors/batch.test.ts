import { expect, test } from "vitest";
import { batcher } from "./batch";

function counted(most: number) {
  const calls: string[][] = [];
  const ask = batcher<string>(most, (ids) => {
    calls.push(ids);
    if (ids.includes("bad")) return Promise.reject(new Error("refused"));
    return Promise.resolve(new Map(ids.filter((id) => id !== "gone").map((id) => [id, `about ${id}`])));
  });
  return { calls, ask };
}

test("what is asked within a moment goes out as one request, each id once", async () => {
  const { calls, ask } = counted(10);
  expect(await Promise.all(["a", "b", "a"].map(ask))).toEqual(["about a", "about b", "about a"]);
  expect(calls).toEqual([["a", "b"]]);
  await ask("c");
  expect(calls).toHaveLength(2);
});

test("more than the service takes at once become several requests", async () => {
  const { calls, ask } = counted(2);
  await Promise.all(["a", "b", "c"].map(ask));
  expect(calls).toEqual([["a", "b"], ["c"]]);
});

test("what nobody knows is null, and a failure fails those who waited for it", async () => {
  const { ask } = counted(1);
  const bad = ask("bad");
  expect(await ask("gone")).toBeNull();
  await expect(bad).rejects.toThrow("refused");
});
