import { expect, test } from "vitest";
import type { Statuspage } from "../../shared/api/statuspages";
import { en } from "../../shared/i18n/en";
import { bodyOf, changesOf, check, fieldName, newComponent, newSection, proposal, toSection, valuesOf } from "./values";

const component = {
  componentid: "c",
  name: "API",
  description: "",
  monitors: [{ monitorid: "m", name: "api.internal" }],
  tag: "",
  needs: "all",
  own_status: "operational",
  only_show_if_degraded: false,
};

const page = {
  pageid: "p",
  name: "Acme",
  slug: "acme",
  description: "",
  footer: "",
  published: true,
  language: "en",
  languages: [],
  timezone: "UTC",
  access: "public",
  has_password: false,
  allowed_networks: [],
  indexed: false,
  appearance: { scheme: "auto", accent: null, layout: "list", custom_css: "", powered_by: true, links: [] },
  display: { history_days: 90, bars: true, uptime: true, response_times: false, certificates: false, outages: false },
  sections: [{ sectionid: "s", name: "", components: [component] }],
} as unknown as Statuspage;

test("a new page has one section with a component for each monitor, and is not published", () => {
  const values = proposal("Acme", "Europe/Berlin", "de", [
    { monitorid: "2", name: "shop" },
    { monitorid: "1", name: "blog" },
  ]);
  const body = bodyOf(values);
  expect(body).toMatchObject({ name: "Acme", published: false, timezone: "Europe/Berlin", language: "de" });
  expect(body).not.toHaveProperty("slug");
  expect(body).not.toHaveProperty("password");
  expect(body.sections).toHaveLength(1);
  expect(body.sections?.[0]?.components).toMatchObject([
    { name: "blog", monitors: ["1"] },
    { name: "shop", monitors: ["2"] },
  ]);
});

test("a save sends only what has changed", () => {
  const values = valuesOf(page);
  expect(changesOf(page, values)).toEqual({ pageid: "p" });
  expect(changesOf(page, { ...values, name: "Acme Inc.", "display.bars": false })).toMatchObject({
    pageid: "p",
    name: "Acme Inc.",
    display: { bars: false, uptime: true },
  });
  const sections = values.sections.map((section) => ({ ...section, components: [...section.components, newComponent({ name: "Phone" })] }));
  const changes = changesOf(page, { ...values, sections });
  expect(Object.keys(changes)).toEqual(["pageid", "sections"]);
  expect(changes.sections?.[0]).toMatchObject({ sectionid: "s", components: [{ componentid: "c", monitors: ["m"] }, { name: "Phone" }] });
});

test("a component moves to the end of another section", () => {
  const api = newComponent({ name: "API" });
  const [first, second] = [newSection([api, newComponent({ name: "Shop" })]), newSection([newComponent({ name: "Blog" })])];
  const moved = toSection([first, second], api, second.key);
  expect(moved.map(({ components }) => components.map(({ name }) => name))).toEqual([["Shop"], ["Blog", "API"]]);
});

test("a locked page needs a password, unless it has one", () => {
  const values = { ...valuesOf(page), access: "password" as const };
  expect(check(values, en).password).toBe(en.statuspages.access.passwordShort);
  expect(check(values, en, true).password).toBeUndefined();
  expect(check({ ...values, password: "short" }, en, true).password).toBe(en.statuspages.access.passwordShort);
  expect(check({ ...values, name: " " }, en, true).name).toBe(en.maintenance.form.required);
});

test("warnings name their fields like errors", () => {
  expect(fieldName("sections[1].components[20].name")).toBe("sections.1.components.20.name");
  expect(fieldName("appearance.accent")).toBe("appearance.accent");
});
