/** The values of a policy's form, with the names that the service uses in its errors. */
import type { Policy, SavePolicy, Target } from "../../../shared/api/policies";
import { durationOf, durationText } from "../../../shared/ui/duration-input";
import type { Texts } from "../../../shared/i18n";

/** A target as the value of a choice: `everybody`, or the kind of the target and its id. */
export type TargetKey = string;

export interface StepValues {
  /** Identifies it in the form while its place changes. */
  key: string;
  /** A duration, as typed; empty for none. */
  after: string;
  notify: TargetKey[];
}

export interface Values {
  name: string;
  steps: StepValues[];
  repeat: number | "";
  every: string;
  ack_timeout: string;
}

const kinds = ["scheduleid", "userid", "notifierid"] as const;
export type TargetKind = (typeof kinds)[number];
export const EVERYBODY = "everybody";

/** Half an hour, as the service has it. */
const DEFAULT_EVERY = 1800;

export function keyOfTarget(target: Target): TargetKey {
  const kind = kinds.find((each) => target[each] !== undefined);
  return kind ? `${kind}:${target[kind] ?? ""}` : EVERYBODY;
}

export function targetOf(key: TargetKey): Target {
  const [kind = "", id = ""] = key.split(":");
  return key === EVERYBODY ? { everybody: true } : { [kind]: id };
}

let made = 0;

export function newStep(after = "", notify: TargetKey[] = []): StepValues {
  return { key: String(made++), after, notify };
}

export function initial(): Values {
  return { name: "", steps: [newStep()], repeat: 0, every: durationText(DEFAULT_EVERY), ack_timeout: "" };
}

export function valuesOf({ name, steps, repeat, every, ack_timeout }: Policy): Values {
  return {
    name,
    steps: steps.map(({ after, notify }) => newStep(durationText(after), notify.map(keyOfTarget))),
    repeat,
    every: durationText(every),
    ack_timeout: durationText(ack_timeout),
  };
}

/** What is wrong before the service is asked. */
export function check(values: Values, t: Texts): Record<string, string> {
  const found: Record<string, string> = {};
  if (values.name.trim() === "") found.name = t.maintenance.form.required;
  values.steps.forEach(({ after, notify }, place) => {
    if (notify.length === 0) found[`steps.${place}.notify`] = t.escalation.chooseTarget;
    if (durationOf(after) === null) found[`steps.${place}.after`] = t.form.durationInvalid;
  });
  if (!durationOf(values.every) && Number(values.repeat) > 0) found.every = t.form.durationInvalid;
  if (durationOf(values.ack_timeout) === null) found.ack_timeout = t.form.durationInvalid;
  return found;
}

export function bodyOf(values: Values, policyid?: string): SavePolicy {
  const every = durationOf(values.every);
  return {
    ...(policyid !== undefined && { policyid }),
    name: values.name.trim(),
    steps: values.steps.map(({ after, notify }) => ({ after: durationOf(after) ?? 0, notify: notify.map(targetOf) })),
    repeat: values.repeat === "" ? 0 : values.repeat,
    // Without a repetition it has no meaning, and its last value may stay.
    ...(every && { every }),
    ack_timeout: durationOf(values.ack_timeout) ?? 0,
  };
}

/** The steps with the seconds from the beginning to each. */
export function timesOf(steps: readonly { after: number }[]): number[] {
  let sum = 0;
  return steps.map(({ after }) => (sum += after));
}
