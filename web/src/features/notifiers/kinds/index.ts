/** The form of each kind of notifier. A new service needs its type in `services`, a mark and texts; its settings come from the service. */
import { find, valuesOfSet, type OfferedKind, type ServiceType } from "../../../shared/api/closed-sets";
import type { NotifierKind as Kind } from "../../../shared/api/notifiers";
import { account } from "./account";
import { email } from "./email";
import type { KindForm } from "./kind-form";
import { service, type ServiceValues } from "./service";
import { webhooks } from "./webhooks";

export type { Kind };

export const services = valuesOfSet<ServiceType>({
  slack: true,
  discord: true,
  telegram: true,
  teams: true,
  ntfy: true,
  pushover: true,
  gotify: true,
  pagerduty: true,
  google_chat: true,
  mattermost: true,
  matrix: true,
  opsgenie: true,
  apprise: true,
  twilio: true,
  signal: true,
  alertmanager: true,
});

/** In the order in which they are offered. */
export const offered: readonly OfferedKind[] = ["account", "email", ...services, "standard", "uptime_kuma", "own"];

export const webhookKinds = Object.keys(webhooks) as readonly (keyof typeof webhooks)[];

type Form = Omit<KindForm<KindValues>, "defaults">;

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

const others = { account, email, ...webhooks };

/** The fields of all kinds. They stay in the form while it is open, so switching the kind loses nothing. */
export type KindValues = Intersection<(typeof others)[keyof typeof others]["defaults"]> & ServiceValues;

export function defaults(): KindValues {
  return Object.assign({}, ...Object.values(others).map((form) => form.defaults)) as KindValues;
}

const serviceForms = Object.fromEntries(services.map((type) => [type, service(type)]));
const forms: Partial<Record<string, Form>> = { ...others, ...serviceForms };

/** A kind without a form of its own is shown like a webhook. */
export function formOf(kind: Kind): Form {
  return forms[kind] ?? others.standard;
}

/** The kind that a link names, if it can be created. */
export function offeredKind(word: string | null): OfferedKind | undefined {
  return find(offered, word);
}

export function isService(kind: Kind): kind is ServiceType {
  return (services as readonly Kind[]).includes(kind);
}
