import { expect, test } from "vitest";
import { isChunkLoadError } from "./chunk-load-error";

test("the messages of all browsers about a failed import are recognized", () => {
  for (const words of [
    "Failed to fetch dynamically imported module: http://127.0.0.1/assets/page-1.js",
    "error loading dynamically imported module: http://127.0.0.1/assets/page-1.js",
    "Importing a module script failed.",
  ]) {
    expect(isChunkLoadError(new TypeError(words)), words).toBe(true);
  }
  expect(isChunkLoadError(new Error("Unable to preload CSS for /assets/page-1.css"))).toBe(true);
});

test("other errors are not", () => {
  expect(isChunkLoadError(new TypeError("Cannot read properties of undefined (reading 'name')"))).toBe(false);
  expect(isChunkLoadError("dynamically imported module")).toBe(false);
});
