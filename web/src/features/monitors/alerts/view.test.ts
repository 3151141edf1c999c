import { expect, test } from "vitest";
import { isFiltered, newestOf, searchOf, viewOf } from "./view";

const view = (search: string) => viewOf(new URLSearchParams(search));

test("a view survives the URL, and the usual one has none", () => {
  const search = "tab=over&severity=warning&tag=prod&assignee=me&q=shop&digest=019a";
  expect(searchOf(view(search)).toString()).toBe(search);
  expect(searchOf(view("")).toString()).toBe("");
  expect(view("tab=nonsense&severity=high&assignee=ann")).toEqual({
    tab: "open",
    severity: null,
    tag: null,
    mine: false,
    q: "",
    digest: null,
  });
});

test("a tab is no filter", () => {
  expect(isFiltered(view("tab=over"))).toBe(false);
  for (const search of ["severity=info", "tag=prod", "assignee=me", "q=shop", "digest=019a"])
    expect(isFiltered(view(search)), search).toBe(true);
});

test("the alerts of two statuses are merged, newest first, and no more than requested", () => {
  const ids = (...list: string[]) => list.map((alertid) => ({ alertid }));
  expect(newestOf([ids("019c", "019a"), ids("019d", "019b")], 3)).toEqual(ids("019d", "019c", "019b"));
});
