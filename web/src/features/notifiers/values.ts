/**
 * The values of a notifier's form, with the field names that the service uses in
 * its errors. The form has kinds (email, Slack, custom webhook), the service has
 * types and templates; the fields of one kind are in its file in ./kinds.
 */
import type { Notifier, SaveNotifier } from "./data";
import { readerZone } from "../../shared/lib/zone";
import { initialRules, rulesOf, type MessageRules } from "./message-rules";
import { defaults, formOf, isService, type Kind, type KindValues } from "./kinds";

export interface Values extends KindValues, MessageRules {
  kind: Kind;
  name: string;
  isdefault: boolean;
}

/** `address` is that of the user's account. */
export function initial(kind: Kind, address = ""): Values {
  return { ...defaults(), ...initialRules(readerZone()), "account.email": address, kind, name: "", isdefault: false };
}

export function valuesOf(notifier: Notifier, kind: Kind): Values {
  const { name, isdefault } = notifier;
  return { ...initial(kind), ...formOf(kind).valuesOf(notifier), ...rulesOf(notifier, readerZone()), name, isdefault };
}

/** The request; `taken` are the names of other notifiers, and `kindName` that of the kind. */
export function bodyOf(values: Values, taken: readonly string[] = [], notifierid?: string, kindName = ""): SaveNotifier {
  const name = values.name.trim() === "" ? suggestedName(values, taken, kindName) : values.name.trim();
  const { type, bodyOf: fields } = formOf(values.kind);
  return { ...(notifierid !== undefined && { notifierid }), name, type, isdefault: values.isdefault, ...fields(values) };
}

/** The name of a notifier without one; the second of the same receiver is numbered. A service may not say who receives its messages. */
export function suggestedName(values: Values, taken: readonly string[] = [], kindName = ""): string {
  const receiver = formOf(values.kind).suggestedName(values);
  const name = isService(values.kind) ? `${kindName} ${receiver}`.trim() : receiver;
  let free = name;
  for (let number = 2; taken.includes(free); number++) free = `${name} (${number})`;
  return free;
}
