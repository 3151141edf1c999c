import { expect, test } from "vitest";
import { finder } from "./find";

const find = finder([{ path: "/" }, { path: "/monitor/new" }, { path: "/monitor/:id" }, { path: "/monitor/:id/edit" }]);

test.each([
  ["/", "/"],
  ["/monitor/new", "/monitor/new"],
  ["/monitor/7", "/monitor/:id"],
  ["/monitor/7/edit", "/monitor/:id/edit"],
  ["/Monitor/New/", "/monitor/new"],
])("%s is the page %s", (pathname, path) => {
  expect(find(pathname)?.route.path).toBe(path);
});

test.each(["/monitors", "/monitor", "/monitor/", "/monitor/7/edit/8", "//"])("%s is no page", (pathname) => {
  expect(find(pathname)).toBeUndefined();
});

test("parameters are decoded, and a broken encoding stays as it is", () => {
  expect(find("/monitor/a%2Fb")?.params).toEqual({ id: "a/b" });
  expect(find("/monitor/%E0%A4%A")?.params).toEqual({ id: "%E0%A4%A" });
});
