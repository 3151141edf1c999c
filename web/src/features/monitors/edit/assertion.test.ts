import { expect, test } from "vitest";
import { conditionOf, fieldsOf, isUnary, sourcesOf, startOf } from "./assertion";

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

test("the fields of a document are offered with their paths", () => {
  const fields = fieldsOf(`{"a": {"b c": 1, "it's": true}, "list": [{"n": null}, 2, 3, 4]}`);
  expect(fields.map(({ property, value }) => `${property}=${value}`)).toEqual([
    "$.a['b c']=1",
    "$.a['it\\'s']=true",
    "$.list[0].n=null",
    "$.list[1]=2",
    "$.list[2]=3",
  ]);
  const conditions = fields.map(conditionOf);
  expect(conditions[0]).toMatchObject({ source: "json", property: "$.a['b c']", comparison: "equals", target: "1" });
  expect(fieldsOf("<html>")).toEqual([]);
  expect(fieldsOf(JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]))))).toHaveLength(60);
});
