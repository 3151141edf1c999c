import { expect, test } from "vitest";
import { pretty } from "./preview";

test("JSON is indented, and anything else stays unchanged", () => {
  expect(pretty('{"a":{"b":1}}', "application/json")).toBe('{\n  "a": {\n    "b": 1\n  }\n}');
  expect(pretty('{"a":', "application/json")).toBe('{"a":');
  expect(pretty("  Down since nine.\n", "text/plain; charset=utf-8")).toBe("Down since nine.");
});
