/** The conditions of a monitor: which there are for a type, and how one is made of a value that was seen. */
import type { components } from "../../../shared/api/schema";
import { valuesOfSet } from "../../../shared/api/closed-sets";
import type { Type } from "../data";

type Schemas = components["schemas"];
export type AssertionSource = Schemas["KnownAssertionSource"];
export type Comparison = Schemas["Comparison"];

/** One condition, as it is edited. */
export interface AssertionValues {
  source: AssertionSource;
  property: string;
  comparison: Comparison;
  target: string;
  fails_as: Schemas["FailsAs"];
  match?: Schemas["AssertionMatch"];
  chart?: boolean;
}

export const MAX_ASSERTIONS = 20;

const http: readonly Type[] = ["http", "http_keyword"];
const all: readonly Type[] = [...http, "dns", "ping", "tcp", "tls"];

const supported: Record<AssertionSource, readonly Type[]> = {
  status: [...http, "domain"],
  days_left: ["domain"],
  json: http,
  header: http,
  body: http,
  body_size: http,
  final_url: http,
  redirects: http,
  http_version: http,
  record: ["dns"],
  records: ["dns"],
  code: ["dns"],
  ttl: ["dns"],
  dnssec: ["dns"],
  response_time: [...all, "domain"],
  loss: ["ping"],
  jitter: ["ping"],
  certificate: [...http, "tls"],
  tls: [...http, "tls"],
  address: all,
};

/** What a condition of this type can be about. */
export function sourcesOf(type: Type): AssertionSource[] {
  return (Object.keys(supported) as AssertionSource[]).filter((source) => supported[source].includes(type));
}

export const comparisons = valuesOfSet<Comparison>({
  equals: true,
  not_equals: true,
  contains: true,
  not_contains: true,
  starts_with: true,
  ends_with: true,
  matches: true,
  not_matches: true,
  less_than: true,
  at_most: true,
  greater_than: true,
  at_least: true,
  in: true,
  not_in: true,
  exists: true,
  not_exists: true,
  empty: true,
  not_empty: true,
  unchanged: true,
});

/** Whether a comparison has no target. */
export function isUnary(comparison: Comparison): boolean {
  return ["exists", "not_exists", "empty", "not_empty"].includes(comparison);
}

const choices: Partial<Record<AssertionSource, readonly string[]>> = {
  response_time: ["", "resolve", "connect", "tls", "first_byte", "transfer"],
  tls: ["version", "cipher", "alpn"],
  certificate: ["days_left", "chain_days_left", "issuer", "subject", "name", "fingerprint", "key", "trusted"],
  dnssec: ["authenticated", "signature_days_left"],
};

/** The properties to choose from; `undefined` if it is typed, or if there is none. */
export function propertiesOf(source: AssertionSource): readonly string[] | undefined {
  return choices[source];
}

export function isTyped(source: AssertionSource): boolean {
  return source === "json" || source === "header";
}

const numeric: readonly AssertionSource[] = ["response_time", "body_size", "redirects", "records", "ttl"];

/** A new condition about a source. */
export function startOf(source: AssertionSource): AssertionValues {
  const property = isTyped(source) ? (source === "json" ? "$." : "") : (choices[source]?.[0] ?? "");
  const comparison: Comparison = numeric.includes(source) ? "less_than" : source === "certificate" ? "at_least" : "equals";
  return { source, property, comparison, target: "", fails_as: "down" };
}

/** A value of a response that a condition can be made of. */
export interface SeenValue {
  source: "json" | "header";
  property: string;
  value: string;
}

/** At most so many are offered. */
const MAX_SEEN = 60;

/** The fields of a JSON document, each with its path; none if the text is no JSON. */
export function fieldsOf(text: string): SeenValue[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return [];
  }
  const found: SeenValue[] = [];
  const visit = (value: unknown, path: string) => {
    if (found.length >= MAX_SEEN) return;
    if (Array.isArray(value)) value.slice(0, 3).forEach((item, index) => visit(item, `${path}[${index}]`));
    else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) visit(member, path + step(name));
    } else found.push({ source: "json", property: path, value: String(value) });
  };
  visit(document, "$");
  return found;
}

function step(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? `.${name}` : `['${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}']`;
}

/** The condition that a value stays as it is. */
export function conditionOf({ source, property, value }: SeenValue): AssertionValues {
  return { source, property, comparison: "equals", target: value, fails_as: "down" };
}
