import { expect, test } from "vitest";
import { cron, exampleOf, waysOf } from "./push";

const job = {
  url: "https://w.example/api/push/abc",
  ping: "https://w.example/ping/def",
  interval: 300,
  schedule: "",
  tz: "Europe/Berlin",
  postOnly: false,
};

test("the cron line reports at least once in every interval", () => {
  expect(cron(30)).toBe("*/1 * * * *");
  expect(cron(300)).toBe("*/5 * * * *");
  expect(cron(3600)).toBe("0 */1 * * *");
  expect(cron(7 * 86_400)).toBe("0 0 * * *");
});

test("jobs report to the ping URL, and what sends more to the push URL", () => {
  for (const way of ["wakeful run", "curl", "cron", "systemd"] as const) expect(exampleOf(way, job)).toContain(`"${job.ping}"`);
  for (const way of ["PowerShell", "Python", "Alertmanager"] as const) expect(exampleOf(way, job)).toContain(job.url);
  expect(exampleOf("curl", job)).not.toContain("POST");
  expect(exampleOf("curl", { ...job, postOnly: true })).toContain("-X POST");
});

test("a job runs by the schedule of its monitor", () => {
  expect(exampleOf("cron", job)).toMatch(/^\*\/5 \* \* \* \* your-job /);
  const lines = exampleOf("cron", { ...job, schedule: "30 2 * * *\n@weekly" }).split("\n");
  expect(lines.map((line) => line.split(" your-job")[0])).toEqual(["30 2 * * *", "@weekly"]);
  // Cron does not know what systemd does.
  const calendar = { ...job, schedule: "Mon..Fri *-*-* 02:30" };
  expect(waysOf(job)).toContain("cron");
  expect(waysOf(calendar)).not.toContain("cron");
  expect(exampleOf("systemd", calendar).split("\n")).toContain("OnCalendar=Mon..Fri *-*-* 02:30 Europe/Berlin");
  expect(exampleOf("systemd", { ...job, schedule: "*-*-* 02:30 UTC" })).toContain("OnCalendar=*-*-* 02:30 UTC\n");
});
