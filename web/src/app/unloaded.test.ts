import { expect, test } from "vitest";
import { isUnloaded } from "./unloaded";

test("every browser's words for a file that did not come are known", () => {
  for (const words of [
    "Failed to fetch dynamically imported module: http://127.0.0.1/assets/page-1.js",
    "error loading dynamically imported module: http://127.0.0.1/assets/page-1.js",
    "Importing a module script failed.",
  ]) {
    expect(isUnloaded(new TypeError(words)), words).toBe(true);
  }
  expect(isUnloaded(new Error("Unable to preload CSS for /assets/page-1.css"))).toBe(true);
});

test("a fault of the page's own is not one", () => {
  expect(isUnloaded(new TypeError("Cannot read properties of undefined (reading 'name')"))).toBe(false);
  expect(isUnloaded("dynamically imported module")).toBe(false);
});
