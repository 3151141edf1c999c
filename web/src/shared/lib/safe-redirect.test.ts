import { expect, test } from "vitest";
import { safeRedirect } from "./safe-redirect";

test("a login leads back to the requested page, and never to another site", () => {
  const of = (text: string) => safeRedirect(new URLSearchParams({ next: text }));
  expect(of("/monitor/1?x=2")).toBe("/monitor/1?x=2");
  for (const evil of ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]) {
    expect(of(evil)).toBe("/");
  }
  expect(safeRedirect(new URLSearchParams())).toBe("/");
});
