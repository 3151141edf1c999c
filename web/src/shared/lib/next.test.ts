import { expect, test } from "vitest";
import { next } from "./next";

test("a login leads back to where one wanted to go, and never to another site", () => {
  const of = (text: string) => next(new URLSearchParams({ next: text }));
  expect(of("/monitor/1?x=2")).toBe("/monitor/1?x=2");
  for (const evil of ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]) {
    expect(of(evil)).toBe("/");
  }
  expect(next(new URLSearchParams())).toBe("/");
});
