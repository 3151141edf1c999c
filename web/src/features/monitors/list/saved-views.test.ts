import { expect, test } from "vitest";
import { parseViews, withView } from "./saved-views";

test("what is not a list of views is ignored", () => {
  expect(parseViews(null)).toEqual([]);
  expect(parseViews("{")).toEqual([]);
  expect(parseViews('{"name":"a"}')).toEqual([]);
  expect(parseViews('[1, null, {"name":"a"}, {"name":"b","search":"q=b"}]')).toEqual([{ name: "b", search: "q=b" }]);
});

test("views are sorted by name, and one with the same name is replaced", () => {
  const views = withView([{ name: "b", search: "q=1" }], { name: "a", search: "" });
  expect(views.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(withView(views, { name: "b", search: "q=2" })).toEqual([
    { name: "a", search: "" },
    { name: "b", search: "q=2" },
  ]);
});
