/**
 * The settings of notifiers that send to a known service, as the form has them. A field that
 * is not in the values has its default, or for a secret the stored value.
 */
import type { ServiceType } from "../../shared/api/closed-sets";
import { settingsOf } from "../../shared/api/notifiers";
import type { Texts } from "../../shared/i18n";
import type { Notifier, ServiceField } from "./data";

/** With the names that the service uses in its errors: `slack.token`. Null removes a stored secret. */
export type ServiceValues = Partial<Record<`${ServiceType}.${string}`, string | boolean | null>>;

/** What a notifier without a name is named after. */
const TARGETS = ["channel", "topic", "chat_id", "room_id", "to", "recipients"];

export function storedValues(type: ServiceType, notifier: Notifier): ServiceValues {
  const values: ServiceValues = {};
  for (const [name, value] of Object.entries(settingsOf(notifier) ?? {})) {
    if (typeof value === "string" || typeof value === "boolean") values[`${type}.${name}`] = value;
  }
  return values;
}

/** The settings of a request. The service retains omitted ones and removes empty ones. */
export function savedSettings(type: ServiceType, values: ServiceValues): Record<string, string | boolean> {
  const settings: Record<string, string | boolean> = {};
  for (const [path, value] of Object.entries(values)) {
    if (!path.startsWith(`${type}.`) || value === undefined) continue;
    settings[path.slice(type.length + 1)] = value === null ? "" : typeof value === "string" ? value.trim() : value;
  }
  return settings;
}

export function targetOf(type: ServiceType, values: ServiceValues): string {
  const target = TARGETS.map((name) => values[`${type}.${name}`]).find((value) => typeof value === "string" && value.trim() !== "");
  return typeof target === "string" ? target.trim() : "";
}

export function secretsSet(notifier: Notifier | undefined, type: ServiceType): readonly string[] {
  return notifier?.[type]?.secrets_set ?? [];
}

/** The address of the service. An address that is a secret itself is no server that other secrets are sent to. */
function isServer(field: ServiceField): boolean {
  return field.type === "url" && !field.secret;
}

/** The stored secrets that a changed address would delete, because they are not entered again. */
export function keptSecrets(
  type: ServiceType,
  fields: readonly ServiceField[],
  values: ServiceValues,
  was: Notifier,
): readonly ServiceField[] {
  const stored = storedValues(type, was);
  const address = (field: ServiceField, from: ServiceValues) => {
    const text = String(from[`${type}.${field.name}`] ?? "").trim();
    return text === "" ? String(field.default) : text;
  };
  const hasMoved = fields.some((field) => isServer(field) && address(field, values) !== address(field, stored));
  if (!hasMoved) return [];
  const set = secretsSet(was, type);
  return fields.filter((field) => {
    return field.secret && field.type !== "url" && set.includes(field.name) && values[`${type}.${field.name}`] === undefined;
  });
}

/** The label of a field and what to enter. The service describes those that a later version has added. */
export function labelOf(type: ServiceType, field: ServiceField, { notifierKinds: { fields } }: Texts): readonly [string, string] {
  return fields[`${type}.${field.name}`] ?? fields[field.name] ?? [field.name.replaceAll("_", " "), field.help];
}
