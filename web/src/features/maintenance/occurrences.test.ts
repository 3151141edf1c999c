import { expect, test } from "vitest";
import { occurrencesIn } from "./occurrences";

const window = (part: object) => ({
  isactive: true,
  starts: "2026-01-01T00:00",
  time_zone: "UTC",
  ends: null,
  duration: 3600,
  rrule: null,
  cron: null,
  except: [],
  status: "scheduled" as const,
  current: null,
  modified: "2026-01-01T00:00:00Z",
  ...part,
});

const at = (text: string) => Date.parse(text);
const starts = (part: object, from: string, to: string) =>
  occurrencesIn(window(part), { from: at(from), to: at(to) }, 0).map((span) => new Date(span.from).toISOString().slice(0, 16));

/** The second table of the service's tests. */
test("the rules of the contract happen when the service says", () => {
  const lastSunday = { rrule: "FREQ=MONTHLY;BYDAY=-1SU", starts: "2026-01-25T02:30", time_zone: "Europe/Berlin" };
  expect(starts(lastSunday, "2026-01-01", "2026-05-01")).toEqual([
    "2026-01-25T01:30",
    "2026-02-22T01:30",
    "2026-03-29T01:30",
    "2026-04-26T00:30",
  ]);
  expect(starts(lastSunday, "2026-10-01", "2026-12-01")).toEqual(["2026-10-25T00:30", "2026-11-29T01:30"]);
  const days = (part: object, from: string, to: string) => starts(part, from, to).map((start) => start.slice(5, 10));
  const on31 = { rrule: "FREQ=MONTHLY;BYMONTHDAY=31", starts: "2026-01-31T12:00" };
  expect(days(on31, "2026-01-01", "2026-09-01")).toEqual(["01-31", "03-31", "05-31", "07-31", "08-31"]);
  const second = { rrule: "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", starts: "2026-01-13T20:00" };
  expect(days(second, "2026-01-01", "2026-05-01")).toEqual(["01-13", "02-10", "03-10", "04-14"]);
  const fortnight = { rrule: "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU", starts: "2026-03-03T00:00" };
  expect(days(fortnight, "2026-03-01", "2026-03-24")).toEqual(["03-03", "03-08", "03-17", "03-22"]);
  expect(days({ ...fortnight, rrule: `${fortnight.rrule};WKST=SU` }, "2026-03-01", "2026-03-30")).toEqual([
    "03-03",
    "03-15",
    "03-17",
    "03-29",
  ]);
  const leap = { rrule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", starts: "2024-02-29T00:00" };
  expect(starts(leap, "2024-01-01", "2033-01-01").map((start) => start.slice(0, 4))).toEqual(["2024", "2028", "2032"]);
});

test("ends, exceptions, cron and windows that follow each other", () => {
  expect(starts({ rrule: "FREQ=DAILY;INTERVAL=2;UNTIL=20260105T235959", except: ["2026-01-03"] }, "2026-01-01", "2026-02-01")).toEqual([
    "2026-01-01T00:00",
    "2026-01-05T00:00",
  ]);
  expect(starts({ rrule: "FREQ=DAILY;UNTIL=20260102T000000Z" }, "2026-01-01", "2026-02-01")).toHaveLength(2);
  expect(starts({ cron: "30 2 L * *" }, "2026-02-01", "2026-04-01")).toEqual(["2026-02-28T02:30", "2026-03-31T02:30"]);
  expect(starts({ cron: "0 9-17/4 1 * MON" }, "2026-06-01", "2026-06-03")).toEqual([
    "2026-06-01T09:00",
    "2026-06-01T13:00",
    "2026-06-01T17:00",
  ]);
  expect(starts({ cron: "0 0 * JAN SUN,7" }, "2026-01-01", "2026-03-01")).toEqual(
    ["2026-01-04", "2026-01-11", "2026-01-18", "2026-01-25"].map((day) => `${day}T00:00`),
  );
  const daily = { rrule: "FREQ=DAILY", duration: 86_400 };
  expect(occurrencesIn(window(daily), { from: at("2026-03-01"), to: at("2026-03-08") }, 0)).toHaveLength(1);
  expect(starts({ rrule: "nothing" }, "2026-01-01", "2026-03-01")).toEqual([]);
});

test("what runs longer or ends earlier than planned is shown as it is", () => {
  const month = { from: at("2026-01-01"), to: at("2026-02-01") };
  const [now, modified] = [at("2026-01-01T00:30Z"), "2026-01-01T00:10:00Z"];
  const once = window({ ends: "2026-01-01T01:00:00Z", modified });
  expect(occurrencesIn(once, month, now)).toEqual([{ from: at("2026-01-01"), to: at(modified) }]);
  const current = { from: "2026-01-01T00:00:00Z", to: "2026-01-01T04:00:00Z" };
  expect(occurrencesIn({ ...once, current }, month, now)).toEqual([{ from: at("2026-01-01"), to: at(current.to) }]);
  expect(occurrencesIn({ ...once, current: { ...current, to: null } }, month, now)[0]?.to).toBe(Infinity);
  expect(occurrencesIn(window({ isactive: false, rrule: "FREQ=DAILY", modified }), month, now)).toHaveLength(1);
});
