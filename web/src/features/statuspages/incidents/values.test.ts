import { expect, test } from "vitest";
import type { Incident, IncidentTemplate } from "../../../shared/api/incidents";
import { en } from "../../../shared/i18n/en";
import { repeatText, repeatValues } from "./repeat";
import { checkTemplate, initialTemplate, templateBody } from "./template-values";
import {
  bodyOf,
  check,
  checkDetails,
  detailChanges,
  detailValues,
  fromTemplate,
  hoursOf,
  initial,
  nextSteps,
  previewBody,
  sectionsOf,
  updateBody,
  updateValues,
} from "./values";

const NOW = Date.parse("2026-11-18T09:20:00Z");

const incident = (part: Partial<Incident>) =>
  ({
    kind: "incident",
    status: "investigating",
    components: [{ componentid: "c", name: "API", status: "major_outage" }],
    ...part,
  }) as Incident;

test("an incident needs a title, a text, and something that it affects", () => {
  const empty = initial("incident", [], [], NOW);
  const found = check(empty, en);
  expect(Object.keys(found).filter((field) => found[field] !== undefined)).toEqual(["title", "body", "components"]);
  const whole = { ...empty, title: " Down ", body: "We are looking into it.", pageids: ["p"] };
  expect(Object.values(check(whole, en)).every((text) => text === undefined)).toBe(true);
  expect(bodyOf(whole, "draft")).toEqual({
    kind: "incident",
    state: "draft",
    title: "Down",
    components: [],
    pageids: ["p"],
    notify: true,
    update: { status: "investigating", body: "We are looking into it.", notify: true },
  });
});

test("maintenance starts in the future and ends after its start", () => {
  const values = { ...initial("maintenance", ["c"], [], NOW), title: "Upgrade", body: "Soon." };
  expect(Date.parse(bodyOf(values, "published").scheduled_for ?? "")).toBe(Date.parse("2026-11-18T11:00:00Z"));
  expect(bodyOf(values, "published").components).toEqual([{ componentid: "c", status: "under_maintenance" }]);
  expect(check(values, en).scheduled_until).toBeUndefined();
  expect(check({ ...values, scheduled_until: values.scheduled_for }, en).scheduled_until).toBe(en.incidents.endsEarly);
});

test("a template fills in what it says, and leaves its placeholders to the service", () => {
  const template = { templateid: "t", title: "Outage", body: "{{ components }} is down.", status: "identified", components: ["c"] };
  const values = initial("incident", [], ["p"], NOW);
  const filled = { ...values, ...fromTemplate(values, template as IncidentTemplate) };
  expect(filled).toMatchObject({ templateid: "t", title: "Outage", body: "", status: "identified" });
  expect(filled.components).toEqual([{ componentid: "c", status: "major_outage" }]);
  expect(check(filled, en).body).toBeUndefined();
  expect(bodyOf(filled, "published").update).toBeUndefined();
  expect(fromTemplate(filled, undefined)).toEqual({ templateid: null });
});

test("an update sends only changed components, and reopens what was resolved", () => {
  const open = incident({});
  const values = { ...updateValues(open), body: "Fixed." };
  expect(updateBody(open, values)).toEqual({ status: "investigating", body: "Fixed.", notify: true, components: [] });
  const components = [{ componentid: "c", status: "operational" as const }];
  expect(updateBody(open, { ...values, components }).components).toEqual(components);
  expect(updateBody(incident({ status: "resolved" }), { ...values, status: "monitoring" }).reopen).toBe(true);
  expect(updateBody(incident({ status: "resolved" }), { ...values, status: "resolved" }).reopen).toBeUndefined();
});

test("a preview has the update as it would be posted, with an ellipsis until it has a text", () => {
  const open = incident({ incidentid: "i" });
  const values = { ...updateValues(open), status: "resolved" as const };
  const update = { status: "resolved", body: "…", notify: true, components: [] };
  expect(previewBody(open, values)).toEqual({ incidentid: "i", update });
  expect(previewBody(open, { ...values, body: "Fixed." }).update).toEqual(updateBody(open, { ...values, body: "Fixed." }));
});

test("maintenance only moves forward, incidents in any order", () => {
  expect(nextSteps(incident({ kind: "maintenance", status: "in_progress" }))).toEqual(["in_progress", "verifying", "completed"]);
  expect(nextSteps(incident({ status: "monitoring" }))).toHaveLength(4);
});

test("planned maintenance is listed apart, the next one first", () => {
  const planned = (incidentid: string, scheduled_for: string) =>
    incident({ incidentid, kind: "maintenance", status: "scheduled", scheduled_for });
  const { open, scheduled } = sectionsOf([], [planned("b", "2026-12-02T00:00:00Z"), incident({}), planned("a", "2026-12-01T00:00:00Z")]);
  expect(open).toHaveLength(1);
  expect(scheduled.map(({ incidentid }) => incidentid)).toEqual(["a", "b"]);
});

test("common repeats have a name, others stay a rule", () => {
  for (const rule of ["FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20271231T235959", "FREQ=MONTHLY;BYDAY=2TU", ""])
    expect(repeatText(repeatValues(rule))).toBe(rule);
  expect(repeatValues("FREQ=WEEKLY;INTERVAL=2;UNTIL=20271231T235959")).toMatchObject({ repeat: "biweekly", repeat_until: "2027-12-31" });
  expect(repeatValues("FREQ=MONTHLY;BYDAY=2TU").repeat).toBe("custom");
});

test("reminders are a few hours before the start", () => {
  expect(hoursOf("24, 1")).toEqual([24, 1]);
  expect(hoursOf("")).toEqual([]);
  for (const wrong of ["0", "721", "1.5", "a", "1,2,3,4,5,6"]) expect(hoursOf(wrong)).toBeNull();
});

test("editing an incident sends only what has changed", () => {
  const planned = incident({
    incidentid: "i",
    kind: "maintenance",
    title: "Upgrade",
    texts: {},
    scheduled_for: "2026-12-01T10:00:00Z",
    scheduled_until: "2026-12-01T11:00:00Z",
    auto_start: true,
    auto_end: true,
    remind_hours: [24],
    repeat: "",
    timezone: "Europe/Berlin",
  });
  const values = detailValues(planned);
  expect(detailChanges(planned, values)).toEqual({ incidentid: "i" });
  expect(detailChanges(planned, { ...values, repeat: "weekly", remind_hours: "" })).toEqual({
    incidentid: "i",
    repeat: "FREQ=WEEKLY",
    remind_hours: [],
  });
  expect(checkDetails("maintenance", { ...values, scheduled_until: values.scheduled_for }, en).scheduled_until).toBe(
    en.incidents.endsEarly,
  );
  const open = incident({
    incidentid: "i",
    title: "Down",
    texts: {},
    remind_hours: [],
    repeat: "",
    timezone: "UTC",
    impact_override: null,
  });
  expect(detailChanges(open, { ...detailValues(open), impact_override: "minor" })).toEqual({ incidentid: "i", impact_override: "minor" });
});

test("a template needs a name and texts", () => {
  const empty = initialTemplate();
  expect(Object.values(checkTemplate(empty, en)).filter(Boolean)).toHaveLength(3);
  expect(templateBody({ ...empty, name: " Outage " }, "t")).toMatchObject({
    templateid: "t",
    name: "Outage",
    status: "investigating",
    impact: "",
  });
});
