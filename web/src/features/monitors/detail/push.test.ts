import { expect, test } from "vitest";
import { cron, lineOf } from "./push";

test("the cron line reports at least once in every interval", () => {
  expect(cron(30)).toBe("*/1 * * * *");
  expect(cron(300)).toBe("*/5 * * * *");
  expect(cron(3600)).toBe("0 */1 * * *");
  expect(cron(7 * 86_400)).toBe("0 0 * * *");
});

test("every command calls the monitor's push URL", () => {
  for (const way of ["curl", "cron", "PowerShell", "Python", "Alertmanager"] as const) {
    expect(lineOf(way, "https://w.example/api/push/abc", 60, "https://w.example/ping/abc")).toMatch(
      /https:\/\/w\.example\/(api\/push|ping)\/abc/,
    );
  }
});
