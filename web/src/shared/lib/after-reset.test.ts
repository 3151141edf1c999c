import { expect, test } from "vitest";
import { afterReset, isAfterReset } from "./after-reset";

test("only the state of the reset form says that a password was just reset", () => {
  expect(isAfterReset(afterReset)).toBe(true);
  for (const state of [null, undefined, "afterReset", {}, { search: true }, { afterReset: "yes" }]) {
    expect(isAfterReset(state)).toBe(false);
  }
});
