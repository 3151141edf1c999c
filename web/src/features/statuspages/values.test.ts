import { expect, test } from "vitest";
import type { Statuspage } from "../../shared/api/statuspages";
import { en } from "../../shared/i18n/en";
import { checkRule, newRule } from "./rule-values";
import { translated } from "./translation-values";
import { bodyOf, changesOf, check, fieldName, hostNames, newComponent, newSection, proposal, toSection, valuesOf } from "./values";

const component = {
  componentid: "c",
  name: "API",
  description: "",
  monitors: [{ monitorid: "m", name: "api.internal" }],
  tag: "",
  needs: "all",
  own_status: "operational",
  only_show_if_degraded: false,
  link: "",
  alias: "",
  uptime_from: "monitors",
  display: { uptime: "inherit", response_time: "inherit", certificate: "no" },
  texts: {},
};

const rule = {
  ruleid: "r",
  name: "Outages",
  isactive: true,
  components: ["c"],
  after: 120,
  mode: "draft",
  templateid: null,
  impact: null,
  group: 0,
  on_recovery: "monitor",
  resolve_after: 300,
  notify: true,
  show_cause: false,
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
  texts: {},
  domains: [{ domain: "status.example.com", primary: true, verified: true }],
  embed_origins: ["*"],
  shown_after: 0,
  rules: [rule],
  subscribe: { email: true, webhook: false, chat: false, feeds: true, choose: true, sender: null, reply_to: "" },
  appearance: { scheme: "auto", accent: null, layout: "list", custom_css: "", powered_by: true, links: [] },
  display: { history_days: 90, bars: true, uptime: true, response_times: false, certificates: false, outages: false },
  sections: [{ sectionid: "s", name: "", description: "", collapsed: "inherit", texts: {}, components: [component] }],
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

test("only warnings about names are counted as addresses that visitors would see", () => {
  const fields = [
    "appearance.accent",
    "sections.0.components.1.name",
    "sections.0.components.1.monitors",
    "sections[1].components[0].name",
  ];
  expect(hostNames(fields.map((field) => ({ field })))).toBe(2);
});

test("a rule is sent with seconds, and without components that were removed unless it would then name all", () => {
  const values = valuesOf(page);
  const [first] = values.rules;
  if (!first) throw new Error("the page has a rule");
  const changed = { ...first, after: "5m", templateid: "t", components: ["c", "gone"] };
  expect(changesOf(page, { ...values, rules: [changed] })).toEqual({
    pageid: "p",
    rules: [{ ...rule, key: undefined, after: 300, templateid: "t", impact: "" }],
  });
  expect(bodyOf({ ...values, rules: [{ ...first, components: ["gone"] }] }).rules?.[0]?.components).toEqual(["gone"]);
  expect(Object.values(checkRule(newRule("Rule 1"), en)).filter(Boolean)).toEqual([]);
  const wrong = checkRule({ ...first, name: " ", after: "5 s", group: "soon" }, en);
  expect(wrong).toMatchObject({ name: en.maintenance.form.required, group: en.form.durationInvalid });
  expect(wrong.after).toContain("30 s");
});

test("a translation that is cleared leaves nothing behind", () => {
  const german = translated({}, "de", "name", "Laden");
  const both = translated(german, "ar", "name", "متجر");
  expect(Object.keys(both)).toEqual(["ar", "de"]);
  expect(translated(both, "ar", "name", "")).toEqual(german);
  expect(translated(german, "de", "name", "")).toEqual({});
  expect(changesOf(page, { ...valuesOf(page), texts: german })).toEqual({ pageid: "p", texts: german });
});

test("how long an outage is hidden is limited", () => {
  const values = valuesOf(page);
  expect(bodyOf({ ...values, shown_after: "5m" }).shown_after).toBe(300);
  expect(check({ ...values, shown_after: "2h" }, en).shown_after).toBe(en.statuspages.display.shownAfterLong);
  expect(check({ ...values, shown_after: "soon" }, en).shown_after).toBe(en.form.durationInvalid);
});
