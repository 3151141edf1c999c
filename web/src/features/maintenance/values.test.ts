import { expect, test } from "vitest";
import type { Maintenance } from "../../shared/api/maintenances";
import { en } from "../../shared/i18n/en";
import { bodyOf, changesOf, check, initial, isPast, valuesOf, type Values } from "./values";

const stored: Maintenance = {
  maintenanceid: "w",
  name: "Backups",
  description: "",
  isactive: true,
  monitors: [],
  groups: [],
  tags: ["backup"],
  all_tags: [],
  everything: false,
  starts: "2026-03-01T02:30",
  time_zone: "Europe/Berlin",
  ends: null,
  duration: 5400,
  rrule: "FREQ=WEEKLY;BYDAY=WE,SU",
  cron: null,
  except: ["2026-12-27"],
  checks: "run",
  counts: "excluded",
  alerts: "suppress",
  dependents: true,
  grace: 300,
  announce: { notifiers: [], before: [], start: false, end: false },
  status: "scheduled",
  current: null,
  next: [],
  monitors_covered: 1,
  created: "2026-01-01T00:00:00Z",
  modified: "2026-01-01T00:00:00Z",
};

test("a window that was not changed sends nothing but its id", () => {
  expect(changesOf(stored, valuesOf(stored))).toEqual({ maintenanceid: "w" });
  const cron = { ...stored, rrule: null, cron: "30 2 * * SUN" };
  expect(changesOf(cron, valuesOf(cron))).toEqual({ maintenanceid: "w" });
  const odd = { ...stored, rrule: "FREQ=YEARLY;BYMONTH=2" };
  expect(changesOf(odd, valuesOf(odd))).toEqual({ maintenanceid: "w" });
  const once = { ...stored, rrule: null, starts: "2026-03-01T01:30:00Z", ends: "2026-03-01T03:00:00Z" };
  expect(valuesOf(once)).toMatchObject({ repeat: "once", starts: "2026-03-01T02:30", ends: "2026-03-01T04:00" });
  expect(changesOf(once, valuesOf(once))).toEqual({ maintenanceid: "w" });
});

test("only what changed is sent, and times and selections as a whole", () => {
  const values = valuesOf(stored);
  expect(changesOf(stored, { ...values, name: "Backup ", grace: "" })).toEqual({ maintenanceid: "w", name: "Backup", grace: 0 });
  expect(changesOf(stored, { ...values, starts: "2026-03-01T03:00" })).toEqual({
    maintenanceid: "w",
    starts: "2026-03-01T03:00",
    time_zone: "Europe/Berlin",
    duration: 5400,
    rrule: "FREQ=WEEKLY;BYDAY=WE,SU",
    except: ["2026-12-27"],
  });
  expect(changesOf(stored, { ...values, everything: true })).toEqual({
    maintenanceid: "w",
    everything: true,
    monitors: [],
    groups: [],
    tags: [],
    all_tags: [],
  });
  expect(changesOf(stored, { ...values, dependents: false })).toEqual({ maintenanceid: "w", dependents: false });
  expect(changesOf(stored, { ...values, groups: ["g"] })).toEqual({
    maintenanceid: "w",
    everything: false,
    monitors: [],
    groups: ["g"],
    tags: ["backup"],
    all_tags: [],
  });
  const announced = { ...values, "announce.notifiers": ["n"], "announce.before": ["1 d", "15 min"], "announce.end": true };
  expect(changesOf(stored, announced)).toEqual({
    maintenanceid: "w",
    announce: { notifiers: ["n"], before: [86_400, 900], start: false, end: true },
  });
  const once = changesOf(stored, { ...values, repeat: "once", open: true });
  expect(once).toMatchObject({ rrule: "", cron: "", ends: "" });
});

test("a new window is in an hour's time, in the given zone", () => {
  const values = initial(Date.parse("2026-11-17T19:40:00Z"), "Europe/Berlin");
  expect(values).toMatchObject({
    starts: "2026-11-17T22:00",
    ends: "2026-11-17T23:00",
    repeat: "once",
    days: ["TU"],
    dates: [17],
    ordinal: "3",
  });
  const body = bodyOf({ ...values, name: "x", monitors: ["m"], repeat: "cron", cron: "0 3 * * *" });
  expect(body).toMatchObject({ cron: "0 3 * * *", duration: 3600, monitors: ["m"] });
  expect(body).not.toHaveProperty("ends");
});

test("what is missing is named at its field", () => {
  const values = initial(0, "UTC");
  const fields = (part: Partial<Values>) => Object.keys(check({ ...values, name: "x", everything: true, ...part }, en)).sort();
  expect(fields({})).toEqual([]);
  expect(fields({ name: " ", everything: false, starts: "", ends: "" })).toEqual(["ends", "monitors", "name", "starts"]);
  expect(fields({ repeat: "week", days: [], duration: "soon", grace: "x" })).toEqual(["duration", "grace", "rrule"]);
  expect(fields({ repeat: "month", dates: [] })).toEqual(["rrule"]);
  for (const before of [["soon"], ["30 s"], ["1 d", "1 h", "15 min", "5 min"]]) {
    expect(fields({ "announce.before": before })).toEqual(["announce.before"]);
  }
});

test("a window in the past is recognized", () => {
  const values = initial(Date.parse("2026-11-17T19:40:00Z"), "Europe/Berlin");
  expect(isPast(values, Date.parse("2026-11-17T21:59:00Z"))).toBe(false);
  expect(isPast(values, Date.parse("2026-11-17T22:00:00Z"))).toBe(true);
  expect(isPast({ ...values, open: true }, Infinity)).toBe(false);
});
