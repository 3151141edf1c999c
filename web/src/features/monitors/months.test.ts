import { expect, test, vi } from "vitest";
import { setTabTeam } from "../../shared/api/tab-team";
import { lastMonths, reportOf } from "./months";

test("months go back across the turn of the year, on any day", () => {
  expect(lastMonths(new Date("2027-01-31T23:00:00Z"), 3)).toEqual(["2027-01", "2026-12", "2026-11"]);
});

test("a report is that of the team of the tab", () => {
  const stored = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  expect(reportOf("2026-10", "csv")).toBe("/api/v1/report?month=2026-10&format=csv");
  setTabTeam("t-1");
  expect(reportOf("2026-10", "csv")).toBe("/api/v1/report?month=2026-10&format=csv&team=t-1");
});
