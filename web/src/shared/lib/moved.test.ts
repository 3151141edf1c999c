import { expect, test } from "vitest";
import { moved } from "./moved";

test("an item moves up and down, and the others keep their order", () => {
  expect(moved(["a", "b", "c", "d"], 0, 2)).toEqual(["b", "c", "a", "d"]);
  expect(moved(["a", "b", "c", "d"], 3, 1)).toEqual(["a", "d", "b", "c"]);
  expect(moved(["a", "b"], 1, 1)).toEqual(["a", "b"]);
});
