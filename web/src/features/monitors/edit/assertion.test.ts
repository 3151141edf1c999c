import { expect, test } from "vitest";
import type { Type } from "../data";
import {
  conditionOf,
  hasSeveralValues,
  isNumeric,
  isUnary,
  propertiesOf,
  rowsAfter,
  seenValues,
  sourcesOf,
  startingRows,
  startOf,
  withRow,
} from "./assertion";

test("the sources depend on the type", () => {
  expect(sourcesOf("dns")).toContain("record");
  expect(sourcesOf("dns")).not.toContain("status");
  expect(sourcesOf("tcp")).toEqual(["response_time", "address"]);
  expect(sourcesOf("api")).toEqual([]);
});

test("a new condition has a property where one is needed", () => {
  expect(startOf("json").property).toBe("$.");
  expect(startOf("certificate")).toMatchObject({ property: "days_left", comparison: "at_least" });
  expect(startOf("status").property).toBe("");
  expect(isUnary("exists") && !isUnary("equals")).toBe(true);
});

test("the times of a ping are those of its echoes", () => {
  expect(propertiesOf("response_time", "ping")).toEqual(["", "resolve", "first_byte", "min", "max"]);
  expect(propertiesOf("response_time", "http")).toContain("connect");
  expect(propertiesOf("response_time", "http")).not.toContain("min");
});

test("a new monitor starts with the rows of its type, and they follow the type until they are changed", () => {
  expect(startingRows("tls")).toEqual([
    { source: "certificate", property: "days_left", comparison: "at_least", target: "14", fails_as: "degraded" },
  ]);
  expect(startingRows("ping")).toEqual([{ source: "loss", property: "", comparison: "at_most", target: "20", fails_as: "degraded" }]);
  expect(startingRows("http")).toEqual([]);
  expect(startingRows("ping", true)).toEqual([]);
  const values = (type: Type, upside_down_mode = false, assertions = startingRows(type, upside_down_mode)) => ({
    type,
    upside_down_mode,
    assertions,
  });
  expect(rowsAfter(values("http"), values("ping"))).toEqual(startingRows("ping"));
  expect(rowsAfter(values("ping"), values("tls"))).toEqual(startingRows("tls"));
  expect(rowsAfter(values("tls"), values("tcp"))).toEqual([]);
  // An inverted monitor cannot have warnings.
  expect(rowsAfter(values("ping"), values("ping", true))).toEqual([]);
  expect(rowsAfter(values("ping", true), values("ping"))).toEqual(startingRows("ping"));
  const own = [{ ...startOf("loss"), target: "5" }];
  expect(rowsAfter(values("ping", false, own), values("tls"))).toEqual(own);
  expect(rowsAfter(values("ping", false, []), values("tls"))).toEqual([]);
});

test("one number is drawn as a chart, and nothing that is no number", () => {
  const [size, days] = [startOf("body_size"), startOf("certificate")];
  const charted = withRow([{ ...size, chart: true }, days], 1, { ...days, chart: true });
  expect(charted.map(({ chart }) => chart)).toEqual([false, true]);
  const issuer = withRow(charted, 1, { ...days, property: "issuer", chart: true });
  expect(issuer.map(({ chart }) => chart)).toEqual([false, false]);
  // What was not touched is sent as it was read.
  expect(withRow([size, days], 0, { ...size, target: "9" })).toEqual([{ ...size, target: "9" }, days]);
  expect(sourcesOf("http").filter((source) => !isNumeric({ source, property: "" }))).toEqual(
    expect.arrayContaining(["body", "final_url", "address"]),
  );
});

test("headers, records and JSON paths may have several values", () => {
  expect(sourcesOf("http").filter((source) => hasSeveralValues({ source, property: "" }))).toEqual(["json", "header"]);
  expect(hasSeveralValues({ source: "certificate", property: "name" })).toBe(true);
});

test("fields and headers of a response become conditions, unless they cannot be compared", () => {
  const body = `{"a": {"b c": 1}, "token": "[redacted]", "long": "${"x".repeat(2_000)}", "rest": [tru`;
  const headers = [
    ["content-type", "application/json"],
    ["set-cookie", "[redacted]"],
  ];
  const seen = seenValues({ body, headers, truncated: true });
  expect(seen.map(({ source, property }) => `${source} ${property}`)).toEqual(["json $.a['b c']", "header content-type"]);
  expect(conditionOf(seen[0] ?? { source: "header", property: "", value: "" })).toEqual({
    source: "json",
    property: "$.a['b c']",
    comparison: "equals",
    target: "1",
    fails_as: "down",
  });
  expect(seenValues({ body, headers: [], truncated: false })).toEqual([]);
});
