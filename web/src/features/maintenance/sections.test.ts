import { expect, test } from "vitest";
import type { Maintenance } from "../../shared/api/maintenances";
import { sectionsOf } from "./sections";

const window = (name: string, part: Partial<Maintenance>) => ({ name, next: [], modified: "2026-01-01T00:00:00Z", ...part }) as Maintenance;
const span = (from: string, to: string | null) => ({ from: `2026-01-${from}T00:00:00Z`, to: to && `2026-01-${to}T00:00:00Z` });

test("running, upcoming and past windows are in the order in which they matter", () => {
  const list = [
    window("old", { status: "ended", ends: "2025-01-01T00:00:00Z" }),
    window("recent", { status: "ended", ends: "2025-12-01T00:00:00Z" }),
    window("later", { status: "scheduled", next: [span("09", "10")] }),
    window("soon", { status: "scheduled", next: [span("02", "03")] }),
    window("open b", { status: "running", current: span("01", null) }),
    window("open a", { status: "running", current: span("01", null) }),
    window("short", { status: "running", current: span("01", "02") }),
    window("off", { status: "inactive" }),
  ];
  expect(sectionsOf(list).map(([name, some]) => [name, some.map((one) => one.name)])).toEqual([
    ["running", ["short", "open a", "open b"]],
    ["upcoming", ["soon", "later"]],
    ["off", ["off"]],
    ["past", ["recent", "old"]],
  ]);
  expect(sectionsOf([])).toEqual([]);
});
