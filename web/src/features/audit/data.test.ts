import { expect, test } from "vitest";
import { everything, parametersOf } from "./data";

test("what selects everything is no parameter, and both days are included", () => {
  expect(parametersOf(everything)).toEqual({});
  expect(parametersOf({ q: " shop ", thing: "monitor", actor: "019a", object: " 019b ", from: "2026-11-18", to: "2026-12-31" })).toEqual({
    q: "shop",
    action: "monitor",
    actor: "019a",
    object: "019b",
    from: new Date(2026, 10, 18).toISOString(),
    to: new Date(2027, 0, 1).toISOString(),
  });
  expect(parametersOf({ ...everything, to: "2026-11" }), "a day that is not complete yet").toEqual({});
});
