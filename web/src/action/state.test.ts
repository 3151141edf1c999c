import { expect, test } from "vitest";
import { durationOf, isLasting, isUnacknowledged, responseOf, stateOf, type LinkedAlert } from "./state";
import { textsOf } from "./texts";

const now = Date.parse("2026-11-17T12:00:00Z");
const alert: LinkedAlert = {
  success: true,
  name: "shop",
  kind: "outage",
  severity: "critical",
  status: "open",
  cause: "503",
  started: "2026-11-17T11:30:00Z",
};

test("the large button is there until somebody has acknowledged the alert or it is over", () => {
  expect(isUnacknowledged(stateOf(alert))).toBe(true);
  expect(isUnacknowledged("snoozed")).toBe(true);
  for (const state of ["acknowledged", "over", "resolved", "warning"] as const) expect(isUnacknowledged(state), state).toBe(false);
  expect(isLasting("acknowledged")).toBe(true);
});

test("a certificate warning cannot be acknowledged", () => {
  expect(stateOf({ kind: "certificate", status: "over" })).toBe("warning");
  expect(isLasting("warning")).toBe(false);
});

test("the page says for how long it is down, or was", () => {
  expect(durationOf(alert, textsOf.en, now, "en-GB")).toMatch(/^Down since .+ \(30 min\)$/);
  for (const kind of ["flapping", "degraded"] as const)
    expect(durationOf({ ...alert, kind }, textsOf.en, now, "en-GB"), kind).toMatch(/^Since .+ \(30 min\)$/);
  const over = { ...alert, ended: "2026-11-17T11:40:00Z", status: "over" as const };
  expect(durationOf(over, textsOf.de, now, "de")).toMatch(/^Ausgefallen von .+ bis .+ \(10 min\)$/);
});

test("the page names who has responded", () => {
  expect(responseOf(alert, textsOf.en, now, "en-GB")).toBe("");
  expect(responseOf({ ...alert, status: "acknowledged", acknowledged_by: "Ann" }, textsOf.en, now, "en-GB")).toBe("Acknowledged by Ann.");
  expect(responseOf({ ...alert, status: "snoozed", snoozed_until: "2026-11-17T13:00:00Z" }, textsOf.de, now, "de")).toMatch(
    /^Zurückgestellt bis /,
  );
  expect(responseOf({ ...alert, status: "over", acknowledged_by: "Ann" }, textsOf.en, now, "en-GB")).toContain("over");
});
