import { expect, test } from "vitest";
import { rangeOf, windowOf, withoutZoom, withRange, withZoom, zoomOf } from "./range";

const search = (text: string) => new URLSearchParams(text);

test("the range is read from the URL, and an unknown one is the default", () => {
  expect(windowOf(search("range=7d"))).toEqual({ last: 7 * 86_400 });
  expect(rangeOf(search(""))).toBe("1h");
  expect(rangeOf(search("range=toString"))).toBe("1h");
});

test("a zoom survives the URL, and resetting it restores the range", () => {
  const zoomed = withZoom(search("range=24h"), Date.UTC(2026, 0, 2, 3, 4, 5, 600), Date.UTC(2026, 0, 2, 4));
  expect(zoomed.get("from")).toBe("2026-01-02T03:04:05Z");
  expect(zoomOf(zoomed)).toEqual({ from: Date.UTC(2026, 0, 2, 3, 4, 5), to: Date.UTC(2026, 0, 2, 4) });
  expect(withoutZoom(zoomed).toString()).toBe("range=24h");
  expect(withRange(zoomed, "1h").toString()).toBe("");
});

test("a zoom that is reversed, too short, too long or not a time is ignored", () => {
  for (const [from, to] of [
    ["2026-01-02T04:00:00Z", "2026-01-02T03:00:00Z"],
    ["2026-01-02T04:00:00Z", "2026-01-02T04:00:30Z"],
    ["1970-01-01T00:00:00Z", "2026-01-02T04:00:30Z"],
    ["yesterday", "now"],
  ]) {
    expect(zoomOf(search(`from=${from ?? ""}&to=${to ?? ""}`))).toBeNull();
  }
});
