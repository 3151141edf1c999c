import { expect, test } from "vitest";
import { bytes } from "./bytes";

test("sizes have the unit that fits", () => {
  const cases: [number, string][] = [
    [0, "0 bytes"],
    [999, "999 bytes"],
    [1_000, "1 kB"],
    [1_550_000, "1.6 MB"],
    [2_000_000_000_000_000, "2,000 TB"],
  ];
  for (const [count, text] of cases) expect(bytes(count, "en")).toBe(text);
  expect(bytes(1_500_000, "de")).toBe("1,5 MB");
});
