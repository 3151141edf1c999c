import { expect, test } from "vitest";
import { forEachConcurrent } from "./for-each-concurrent";

test("every item is handled once, a few at a time, also after a failure", async () => {
  const items = Array.from({ length: 50 }, (_, index) => index);
  const seen: number[] = [];
  const progress: number[] = [];
  let running = 0;
  let most = 0;
  const outcome = await forEachConcurrent(
    items,
    async (item) => {
      most = Math.max(most, ++running);
      seen.push(item);
      await Promise.resolve();
      running--;
      if (item % 25 === 0) throw new Error(`no ${item}`);
    },
    (done) => progress.push(done),
  );
  expect(seen).toEqual(items);
  expect(most).toBe(6);
  expect(progress.at(-1)).toBe(50);
  expect(outcome.failed).toEqual([0, 25]);
  expect(outcome.error).toEqual(new Error("no 25"));
});
