import { expect, test } from "vitest";
import { hasDuration, isActionable, isFiltered, newestOf, searchOf, viewOf } from "./view";

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

test("alerts that last can be handled until they are over, and warnings cannot", () => {
  for (const kind of ["outage", "flapping", "degraded"] as const) {
    expect(hasDuration(kind), kind).toBe(true);
    for (const status of ["open", "acknowledged", "snoozed", "suppressed"] as const)
      expect(isActionable({ kind, status }), kind).toBe(true);
    for (const status of ["over", "resolved"] as const) expect(isActionable({ kind, status }), kind).toBe(false);
  }
  for (const kind of ["certificate", "domain", "change"] as const) {
    expect(hasDuration(kind), kind).toBe(false);
    expect(isActionable({ kind, status: "suppressed" }), kind).toBe(false);
  }
});

test("the alerts of two statuses are merged, newest first, and no more than requested", () => {
  const ids = (...list: string[]) => list.map((alertid) => ({ alertid }));
  expect(newestOf([ids("019c", "019a"), ids("019d", "019b")], 3)).toEqual(ids("019d", "019c", "019b"));
});
