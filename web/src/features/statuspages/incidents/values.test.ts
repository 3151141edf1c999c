import { expect, test } from "vitest";
import type { Incident, IncidentTemplate } from "../../../shared/api/incidents";
import { en } from "../../../shared/i18n/en";
import { bodyOf, check, fromTemplate, initial, nextSteps, sectionsOf, updateBody, updateValues } from "./values";

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
