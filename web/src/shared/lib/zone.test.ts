import { expect, test } from "vitest";
import { instantOf, isSameTime, knownZone, localOf, localText, parseLocal, zones } from "./zone";

/** The table of the service's own tests: a local time in a gap uses the offset before it, and one that occurs twice means the first. */
test.each([
  ["Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30:00.000Z"],
  ["Europe/Berlin", "2026-03-29T01:30", "2026-03-29T00:30:00.000Z"],
  ["Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00.000Z"],
  ["Europe/Berlin", "2026-10-25T01:30", "2026-10-24T23:30:00.000Z"],
  ["America/New_York", "2026-03-08T02:00", "2026-03-08T07:00:00.000Z"],
  ["America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00.000Z"],
  ["Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45:00.000Z"],
  ["Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00.000Z"],
  ["America/Havana", "2026-03-08T00:30", "2026-03-08T05:30:00.000Z"],
  ["Africa/Cairo", "2026-04-24T00:30", "2026-04-23T22:30:00.000Z"],
  ["UTC", "2026-04-24T00:30", "2026-04-24T00:30:00.000Z"],
])("%s %s is %s", (zone, local, instant) => {
  expect(new Date(instantOf(parseLocal(local), zone)).toISOString()).toBe(instant);
});

test("an instant has a local time in each zone", () => {
  const at = Date.parse("2026-11-17T23:30:00Z");
  expect(localText(localOf(at, "Europe/Berlin"))).toBe("2026-11-18T00:30");
  expect(localText(localOf(at, "America/New_York"))).toBe("2026-11-17T18:30");
  expect(isSameTime([at], "Europe/Berlin", "Europe/Paris")).toBe(true);
  expect(isSameTime([at], "Europe/Berlin", "Europe/London")).toBe(false);
});

test("what is not a local time or a zone is recognized", () => {
  for (const text of ["", "tomorrow", "2026-13-01T00:00", "2026-01-01T00:00Z"]) expect(parseLocal(text), text).toBeNaN();
  expect([knownZone("Europe/Berlin"), knownZone("Mars/Olympus")]).toEqual(["Europe/Berlin", "UTC"]);
  expect(zones("Mine/Own")).toEqual(expect.arrayContaining(["UTC", "Mine/Own", "Europe/Berlin"]));
});
