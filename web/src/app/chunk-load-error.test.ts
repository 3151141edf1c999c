import { expect, test } from "vitest";
import { isChunkLoadError } from "./chunk-load-error";

test("every browser's words for a file that did not come are known", () => {
  for (const words of [
    "Failed to fetch dynamically imported module: http://127.0.0.1/assets/page-1.js",
    "error loading dynamically imported module: http://127.0.0.1/assets/page-1.js",
    "Importing a module script failed.",
  ]) {
    expect(isChunkLoadError(new TypeError(words)), words).toBe(true);
  }
  expect(isChunkLoadError(new Error("Unable to preload CSS for /assets/page-1.css"))).toBe(true);
});

test("a fault of the page's own is not one", () => {
  expect(isChunkLoadError(new TypeError("Cannot read properties of undefined (reading 'name')"))).toBe(false);
  expect(isChunkLoadError("dynamically imported module")).toBe(false);
});
