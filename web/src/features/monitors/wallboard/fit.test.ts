import { describe, expect, test } from "vitest";
import { fit, textSize } from "./fit";

const UHD = [3840, 2000] as const;

describe("the size of tiles", () => {
  test.each([1, 2, 7, 50, 333, 2000])("%i tiles fill a 4K screen without overflowing it", (count) => {
    const { columns, width, height } = fit(count, ...UHD);
    expect(columns * width).toBeCloseTo(UHD[0]);
    expect(Math.ceil(count / columns) * height).toBeCloseTo(UHD[1]);
  });

  test("fewer tiles are larger", () => {
    expect(fit(12, ...UHD).width).toBeGreaterThan(fit(200, ...UHD).width);
    expect(textSize(fit(12, ...UHD))).toBeGreaterThan(textSize(fit(200, ...UHD)));
  });

  test("two thousand names are legible on a 4K screen", () => {
    expect(textSize(fit(2000, ...UHD))).toBeGreaterThanOrEqual(9);
    expect(fit(2000, ...UHD).width).toBeGreaterThan(90);
  });

  test("an empty board and one that is not measured yet have a size", () => {
    expect(fit(0, ...UHD).columns).toBe(1);
    expect(textSize(fit(5, 0, 0))).toBe(9);
  });
});
