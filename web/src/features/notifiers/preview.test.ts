import { expect, test } from "vitest";
import { pretty } from "./preview";

test("JSON is laid out for reading, and whatever is no JSON stays as it is", () => {
  expect(pretty('{"a":{"b":1}}', "application/json")).toBe('{\n  "a": {\n    "b": 1\n  }\n}');
  expect(pretty('{"a":', "application/json")).toBe('{"a":');
  expect(pretty("  Down since nine.\n", "text/plain; charset=utf-8")).toBe("Down since nine.");
});
