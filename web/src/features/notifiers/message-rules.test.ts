import { expect, test } from "vitest";
import { en } from "../../shared/i18n/en";
import type { Notifier } from "./data";
import { checkRules, initialRules, rulesBody, rulesOf } from "./message-rules";

const quiet = { time_zone: "Asia/Tokyo", hours: [{ days: [], from: "22:00", to: "06:00" }], except: "warning", then: "drop" } as const;
const stored = { min_severity: "warning", events: ["monitor.down", "alert.new"], quiet, group_wait: 30 } as unknown as Notifier;

test("what a notifier gets stays the same when nothing is changed, also events that this page does not know", () => {
  const rules = rulesOf(stored, "UTC");
  expect(rulesBody(rules, "slack", stored)).toEqual({ min_severity: "warning", quiet, group_wait: 30 });
  expect(rulesBody(rules, "webhook", stored), "for programs").toEqual({ min_severity: "warning", quiet });
  expect(rulesBody({ ...rules, events: ["monitor.down"] }, "slack", stored)).toMatchObject({ events: ["monitor.down"] });
});

test("a new notifier leaves the events to the service, and has no quiet hours", () => {
  expect(rulesBody(initialRules("UTC"), "email")).toEqual({ min_severity: "info", quiet: { hours: [] }, group_wait: 0 });
});

test("no events and incomplete hours are refused", () => {
  const rules = { ...initialRules("UTC"), events: [], "quiet.hours": [{ days: [], from: "", to: "06:00" }] };
  expect(Object.keys(checkRules(rules, en))).toEqual(["events", "quiet.hours.0.from"]);
});
