/** The form of each kind of notifier, in the order in which they are offered. A new kind is a file and a line here. */
import { find } from "../../../shared/api/closed-sets";
import type { NotifierKind as Kind } from "../../../shared/api/notifiers";
import { account } from "./account";
import { discord } from "./discord";
import { email } from "./email";
import type { KindForm } from "./kind-form";
import { ntfy } from "./ntfy";
import { own } from "./own";
import { pagerduty } from "./pagerduty";
import { slack } from "./slack";
import { standard } from "./standard";
import { teams } from "./teams";
import { telegram } from "./telegram";
import { uptimeKuma } from "./uptime-kuma";

export type { Kind };

const forms = {
  account,
  email,
  standard,
  slack,
  discord,
  teams,
  telegram,
  ntfy,
  pagerduty,
  uptime_kuma: uptimeKuma,
  own,
} satisfies Partial<Record<Kind, object>>;

type Form = Omit<KindForm<KindValues>, "defaults">;

export const kinds = Object.keys(forms) as readonly Kind[];

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

/** The fields of all kinds. They stay in the form while it is open, so switching the kind loses nothing. */
export type KindValues = Intersection<(typeof forms)[keyof typeof forms]["defaults"]>;

export function defaults(): KindValues {
  return Object.assign({}, ...Object.values(forms).map((form) => form.defaults)) as KindValues;
}

/** A kind without a form of its own is shown like a webhook. */
export function formOf(kind: Kind): Form {
  return (forms as Partial<Record<Kind, Form>>)[kind] ?? forms.standard;
}

export function kindOf(word: string | null): Kind {
  return find(kinds, word) ?? "email";
}
