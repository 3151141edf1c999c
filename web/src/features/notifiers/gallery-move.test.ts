import { expect, test } from "vitest";
import { de } from "../../shared/i18n/de";
import { en } from "../../shared/i18n/en";
import { searchKinds } from "../../shared/lib/search-kinds";
import { moved } from "./gallery-move";
import { offered } from "./kinds";

const found = (texts: typeof en, query: string) =>
  searchKinds(
    offered.map((kind) => ({ kind, name: texts.notifiers.kinds[kind], about: texts.notifierKinds.about[kind] })),
    query,
  ).map(({ kind }) => kind);

test("kinds are found by name, type and description, those whose name begins with the query first", () => {
  expect(found(en, "")).toEqual(offered);
  expect(found(en, " SLACK")).toEqual(["slack"]);
  expect(found(en, "push")[0]).toBe("pushover");
  expect(found(en, "push")).toEqual(expect.arrayContaining(["ntfy", "gotify"]));
  expect(found(en, "on-call")).toEqual(["pagerduty", "opsgenie"]);
  expect(found(en, "rocket")).toEqual(["mattermost"]);
  expect(found(de, "rufbereitschaft")).toEqual(["pagerduty", "opsgenie"]);
  expect(found(de, "kanäle slack")).toEqual([]);
  expect(found(de, "vorlage")).toEqual(["own"]);
});

test("the arrow keys move in the grid, and up from the first row to the search", () => {
  expect(moved("ArrowRight", 0, 3, 8)).toBe(1);
  expect(moved("ArrowDown", 1, 3, 8)).toBe(4);
  expect(moved("ArrowDown", 6, 3, 8)).toBe(7);
  expect(moved("ArrowUp", 4, 3, 8)).toBe(1);
  expect(moved("ArrowUp", 2, 3, 8)).toBe(-1);
  expect(moved("ArrowLeft", 0, 3, 8)).toBe(0);
  expect(moved("End", 0, 3, 8)).toBe(7);
  expect(moved("Tab", 0, 3, 8)).toBeNull();
});
