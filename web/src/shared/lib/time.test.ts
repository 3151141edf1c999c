import { describe, expect, test } from "vitest";
import { ago, interval, millis, percent, span } from "./time";

describe("formatted times", () => {
  test("a relative time uses its largest unit", () => {
    const now = Date.UTC(2026, 10, 15);
    const seconds = (n: number) => ago(now - n * 1000, now, "en");
    expect(seconds(0)).toBe("now");
    expect(seconds(59)).toBe("59 sec. ago");
    expect(seconds(60)).toBe("1 min. ago");
    expect(seconds(3 * 3600 + 59 * 60)).toBe("3 hr. ago");
    expect(seconds(50 * 3600)).toBe("2 days ago");
  });

  test("a time in the future reads as now, since clocks differ", () => {
    expect(ago(5000, 1000, "en")).toBe("now");
  });

  test("a relative time in German", () => {
    expect(ago(0, 60_000, "de")).toBe("vor 1 Min.");
  });

  test("a duration shows its two largest units and no zeros", () => {
    expect(span(0)).toBe("0 s");
    expect(span(61_000)).toBe("1 min 1 s");
    expect(span(3_600_000)).toBe("1 h");
    expect(span(86_400_000 * 2 + 4 * 3_600_000 + 61_000)).toBe("2 d 4 h");
    expect(interval(90)).toBe("1 min 30 s");
  });

  test("a response time has up to three significant digits", () => {
    expect(millis(0.42, "en")).toBe("0.4 ms");
    expect(millis(84.4, "en")).toBe("84 ms");
    expect(millis(1238, "en")).toBe("1.24 s");
    expect(millis(12_380, "en")).toBe("12.4 s");
    expect(millis(0.82, "de")).toBe("0,8 ms");
    expect(millis(1238, "de")).toBe("1,24 s");
  });

  test("an uptime is never rounded up to 100 %", () => {
    expect(percent(100, "en")).toBe("100 %");
    expect(percent(99.9999, "en")).toBe("99.99 %");
    expect(percent(99.98, "de")).toBe("99,98 %");
    expect(percent(0, "en")).toBe("0 %");
  });
});
