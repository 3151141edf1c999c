import { expect, test } from "vitest";
import { fromCron, fromRrule, initialRule, rruleOf, switchedTo, toCron, weekdays, type Rule, type RuleValues } from "./rule";

const starts = "2026-03-01T02:30";

test.each([
  "FREQ=WEEKLY;BYDAY=WE,SU",
  "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
  "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20261231T235959",
  "FREQ=MONTHLY;BYMONTHDAY=1,15,-1",
  "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=31",
  "FREQ=MONTHLY;BYDAY=2TU",
  "FREQ=MONTHLY;BYDAY=-1SU;UNTIL=20270101T235959",
])("the form shows %s in fields, and writes the same rule", (text) => {
  const values = fromRrule(text, starts);
  expect(values.repeat).toBe(text.includes("WEEKLY") ? "week" : "month");
  expect(rruleOf(values)).toBe(text);
});

test.each([
  ["FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"],
  ["FREQ=DAILY;BYDAY=MO,FR", "FREQ=WEEKLY;BYDAY=MO,FR"],
  ["FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=SU"],
  ["RRULE:freq=weekly;byday=su;wkst=su", "FREQ=WEEKLY;BYDAY=SU"],
  ["FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=1"],
  ["FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", "FREQ=MONTHLY;BYDAY=2TU"],
  ["FREQ=WEEKLY;BYDAY=SU;UNTIL=20261231T023000", "FREQ=WEEKLY;BYDAY=SU;UNTIL=20261231T235959"],
])("%s means %s", (text, same) => {
  expect(rruleOf(fromRrule(text, starts))).toBe(same);
});

test.each([
  "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
  "FREQ=DAILY;INTERVAL=3",
  "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
  "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
  "FREQ=MONTHLY;BYMONTHDAY=-2",
  "FREQ=MONTHLY;BYDAY=1MO,3MO",
  "FREQ=WEEKLY;BYDAY=SU;COUNT=3",
  "FREQ=WEEKLY;BYDAY=SU;UNTIL=20261231T235959Z",
  "nothing",
])("%s stays a text", (text) => {
  const values = fromRrule(text, starts);
  expect(values.repeat).toBe("rrule");
  expect(rruleOf(values)).toBe(text);
});

const rule = (part: Partial<RuleValues>): RuleValues => ({ ...initialRule(starts), ...part });

test.each<[Partial<RuleValues>, string]>([
  [{ repeat: "week", days: ["SU", "WE"] }, "30 2 * * WED,SUN"],
  [{ repeat: "week", days: [...weekdays] }, "30 2 * * *"],
  [{ repeat: "month", dates: [-1, 15, 1] }, "30 2 1,15,L * *"],
])("%j is %s as cron, and back", (part, cron) => {
  expect(toCron(rule(part), starts)).toEqual({ cron, lost: [] });
  const back = fromCron(cron);
  expect(back?.time).toBe("02:30");
  expect(rruleOf(rule({ ...back?.rule }))).toBe(rruleOf(rule(part)));
});

test("cron cannot express intervals, ends and the second Tuesday, and the form says so", () => {
  expect(toCron(rule({ repeat: "week", every: 2, until: "2026-12-31" }), starts).lost).toEqual(["every", "until"]);
  expect(toCron(rule({ repeat: "month", monthly: "weekday" }), starts)).toEqual({ cron: "30 2 * * SUN", lost: ["ordinal"] });
});

test("cron with names, numbers and ranges is understood, and other expressions are left alone", () => {
  expect(fromCron("0 22 * * mon-fri")?.rule.days).toEqual(["MO", "TU", "WE", "TH", "FR"]);
  expect(fromCron("0 22 * * 0,6-7")?.rule.days).toEqual(["SA", "SU"]);
  expect(fromCron("5 4 L * *")).toEqual({ rule: { repeat: "month", monthly: "day", dates: [-1], every: 1, until: "" }, time: "04:05" });
  for (const text of ["*/5 2 * * *", "0 2 * 3 *", "0 2 1 * MON", "0 25 * * *", "0 2 * *", "0 2 32 * *", "0 2 * * FRI-MON"])
    expect(fromCron(text), text).toBeNull();
});

const full = (part: Partial<Rule>): Rule => ({ ...initialRule(starts), starts, ...part });

test("switching keeps what the other form can express", () => {
  const weekly = full({ repeat: "week", days: ["MO", "FR"], every: 2 });
  const { rule: cron, lost } = switchedTo("cron", weekly);
  expect([cron.cron, lost]).toEqual(["30 2 * * MON,FRI", ["every"]]);
  expect(switchedTo("week", { ...weekly, ...cron }).rule).toMatchObject({ repeat: "week", days: ["MO", "FR"], starts });
  // The time of a cron expression becomes that of the start.
  expect(switchedTo("week", full({ repeat: "cron", cron: "15 4 * * TUE" })).rule).toMatchObject({
    days: ["TU"],
    starts: "2026-03-01T04:15",
  });
  expect(switchedTo("month", full({ repeat: "cron", cron: "15 4 * * TUE" })).rule).toMatchObject({ repeat: "month" });
  expect(switchedTo("rrule", weekly).rule.rrule).toBe("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR");
  expect(switchedTo("week", full({ repeat: "rrule", rrule: "FREQ=WEEKLY;BYDAY=SA" })).rule).toMatchObject({ days: ["SA"], repeat: "week" });
  expect(switchedTo("week", full({ repeat: "rrule", rrule: "FREQ=YEARLY" })).rule).toEqual({
    repeat: "week",
    cron: "",
    rrule: "FREQ=YEARLY",
  });
  expect(switchedTo("month", weekly).rule).toEqual({ repeat: "month", cron: "", rrule: "" });
  expect(switchedTo("once", weekly).rule).toEqual({ repeat: "once" });
});
