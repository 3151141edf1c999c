import { expect, test } from "vitest";
import type { Policy } from "../../../shared/api/policies";
import { en } from "../../../shared/i18n/en";
import { bodyOf, check, EVERYBODY, initial, newStep, timesOf, valuesOf } from "./values";

const policy: Policy = {
  policyid: "p1",
  name: "Production",
  steps: [
    { after: 0, notify: [{ scheduleid: "s1" }] },
    { after: 600, notify: [{ scheduleid: "s1" }, { notifierid: "n1" }, { userid: "u1" }] },
    { after: 900, notify: [{ everybody: true }] },
  ],
  repeat: 2,
  every: 1800,
  ack_timeout: 7200,
  created: "",
  modified: "",
};

test("a policy that is opened and saved unchanged stays the same", () => {
  const values = valuesOf(policy);
  expect(values.steps.map(({ after, notify }) => [after, notify])).toEqual([
    ["", ["scheduleid:s1"]],
    ["10 min", ["scheduleid:s1", "notifierid:n1", "userid:u1"]],
    ["15 min", [EVERYBODY]],
  ]);
  const { name, steps, repeat, every, ack_timeout, policyid } = policy;
  expect(bodyOf(values, "p1")).toEqual({ policyid, name, steps, repeat, every, ack_timeout });
  expect(check(values, en)).toEqual({});
});

test("steps have times from the beginning", () => {
  expect(timesOf(policy.steps)).toEqual([0, 600, 1500]);
});

test("what is missing is named at its field", () => {
  const values = { ...initial(), steps: [newStep("soon", [EVERYBODY]), newStep("5m")], repeat: 1, every: "", ack_timeout: "x" };
  expect(Object.keys(check(values, en))).toEqual(["name", "steps.0.after", "steps.1.notify", "every", "ack_timeout"]);
  expect(bodyOf({ ...initial(), repeat: "", every: "" })).not.toHaveProperty("every");
});
