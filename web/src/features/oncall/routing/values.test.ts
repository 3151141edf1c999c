import { expect, test } from "vitest";
import { en } from "../../../shared/i18n/en";
import { de } from "../../../shared/i18n/de";
import type { Rule } from "./data";
import { reasonText } from "./reasons";
import { check, initial, isChanged, listed, placeOfError, ruleOf, valuesOf } from "./values";

const rule: Rule = {
  everything: false,
  monitors: [],
  tags: ["shop*"],
  all_tags: [],
  name: "shop",
  groups: ["g1"],
  severities: ["critical"],
  kinds: ["outage"],
  hours: [{ days: ["mon"], from: "09:00", to: "17:00" }],
  time_zone: "Europe/Berlin",
  notifiers: ["n1"],
  policyid: "p1",
  severity: null,
  stop: true,
};

test("a rule that is opened and saved unchanged stays the same", () => {
  expect(ruleOf(valuesOf(rule, "UTC"))).toEqual(rule);
  expect(isChanged([rule], [listed(ruleOf(valuesOf(rule, "UTC")))])).toBe(false);
  expect(isChanged([rule], [])).toBe(true);
  const always = { ...rule, hours: [], time_zone: "UTC" };
  expect(ruleOf(valuesOf(always, "Asia/Tokyo"))).toEqual(always);
});

test("what is missing is named, and errors of the service belong to a rule", () => {
  expect(Object.keys(check({ ...initial("UTC"), hours: [{ days: [], from: "", to: "06:00" }] }, en))).toEqual([
    "name",
    "monitors",
    "hours.0.from",
  ]);
  expect(["rules.3.tags", "rules.12.hours.0.to", "rules"].map(placeOfError)).toEqual([3, 12, null]);
});

test("the reasons of the service are translated, names included", () => {
  expect(reasonText("linked to the monitor", de)).toBe("dem Monitor zugeordnet");
  expect(reasonText("rule step 2 of x", en)).toBe("rule “step 2 of x”");
  expect(reasonText("step 2 of Production", en)).toBe("step 2 of Production");
  expect(reasonText("step 2 of Production", de)).toBe("Schritt 2 von Production");
  expect(reasonText("no step of Production reaches anybody", de)).toContain("Production");
  expect(reasonText("linked to the monitor; step 1 of Production", de)).toBe("dem Monitor zugeordnet; Schritt 1 von Production");
  expect(reasonText("something new", de)).toBe("something new");
});
