import { expect, test } from "vitest";
import type { Permission } from "../shared/api/session";
import { de } from "../shared/i18n/de";
import { en } from "../shared/i18n/en";
import { works } from "./keyboard-shortcuts";

const listed = (keys: typeof en.keys, ...permissions: Permission[]) => keys.map(([key]) => key).filter((key) => works(key, permissions));

test("the list has the shortcuts that the user may use", () => {
  expect(listed(en.keys, "view", "respond", "edit")).toEqual(en.keys.map(([key]) => key));
  expect(listed(en.keys, "view", "respond")).toEqual(["Ctrl K", "/", "i", "j", "k", "Enter", "?"]);
  expect(listed(en.keys, "bills", "pay")).toEqual(["Ctrl K", "?"]);
  expect(listed(de.keys, "bills", "pay")).toEqual(["Strg K", "?"]);
});
