/** The conditions of a monitor: which there are for a type, and how one is made of a value that was seen. */
import type { components } from "../../../shared/api/schema";
import { valuesOfSet } from "../../../shared/api/closed-sets";
import type { Type } from "../data";
import { jsonFields } from "./json-fields";

type Schemas = components["schemas"];
type Response = Pick<Schemas["EvidenceResponse"], "body" | "truncated" | "headers">;
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

/** All echoes of a ping are one check, and it opens no connection. */
const pingTimes = ["", "resolve", "first_byte", "min", "max"];

/** The properties to choose from; `undefined` if it is typed, or if there is none. */
export function propertiesOf(source: AssertionSource, type: Type): readonly string[] | undefined {
  return source === "response_time" && type === "ping" ? pingTimes : choices[source];
}

export function isTyped(source: AssertionSource): boolean {
  return source === "json" || source === "header";
}

/** Whether there may be several values, so that one or all of them must hold. */
export function hasSeveralValues({ source, property }: Pick<AssertionValues, "source" | "property">): boolean {
  return ["header", "json", "record"].includes(source) || (source === "certificate" && property === "name");
}

/** What holds for several values unless a condition says otherwise, as the service has it. */
export function defaultMatch(source: AssertionSource): NonNullable<AssertionValues["match"]> {
  return source === "header" || source === "record" || source === "certificate" ? "any" : "all";
}

const texts: readonly AssertionSource[] = ["body", "final_url", "http_version", "record", "code", "address", "tls"];

/** Whether the value may be a number, which can be drawn as a chart. */
export function isNumeric({ source, property }: Pick<AssertionValues, "source" | "property">): boolean {
  return source === "certificate" || source === "dnssec" ? property.endsWith("days_left") : !texts.includes(source);
}

/** The conditions with another one at a place. One number of a monitor is drawn as a chart. */
export function withRow(rows: readonly AssertionValues[], place: number, row: AssertionValues): AssertionValues[] {
  const chart = row.chart === true && isNumeric(row);
  const others = rows.map((other) => (chart && other.chart === true ? { ...other, chart: false } : other));
  return others.with(place, row.chart === true ? { ...row, chart } : row);
}

const starts: Partial<Record<AssertionSource, Comparison>> = {
  response_time: "less_than",
  body_size: "less_than",
  redirects: "less_than",
  records: "less_than",
  ttl: "less_than",
  loss: "at_most",
  jitter: "at_most",
  certificate: "at_least",
  days_left: "at_least",
};

/** A new condition about a source. */
export function startOf(source: AssertionSource): AssertionValues {
  const property = isTyped(source) ? (source === "json" ? "$." : "") : (choices[source]?.[0] ?? "");
  return { source, property, comparison: starts[source] ?? "equals", target: "", fails_as: "down" };
}

/** The conditions that a new monitor of a type starts with. An inverted one cannot have warnings. */
export function startingRows(type: Type, inverted = false): AssertionValues[] {
  if (inverted) return [];
  if (type === "tls") return [{ ...startOf("certificate"), target: "14", fails_as: "degraded" }];
  if (type === "ping") return [{ ...startOf("loss"), target: "20", fails_as: "degraded" }];
  return [];
}

interface Rows {
  type: Type;
  upside_down_mode: boolean;
  assertions: AssertionValues[];
}

/** The conditions of a new monitor whose type or mode changes: those that it started with follow, others stay. */
export function rowsAfter(before: Rows, after: Rows): AssertionValues[] {
  const started = startingRows(before.type, before.upside_down_mode);
  const unchanged = JSON.stringify(before.assertions) === JSON.stringify(started);
  return unchanged ? startingRows(after.type, after.upside_down_mode) : before.assertions;
}

/** A value of a response that a condition can be made of. */
export interface SeenValue {
  source: "json" | "header";
  property: string;
  value: string;
}

/** The longest property and target that a condition can have. */
const MAX_PROPERTY_LENGTH = 256;
const MAX_TARGET_LENGTH = 1024;

/** The fields and headers of a response. Those that were redacted cannot be compared. */
export function seenValues({ body, truncated, headers }: Response): SeenValue[] {
  const fields = jsonFields(body, truncated).map(({ path, value }) => ({ source: "json" as const, property: path, value }));
  const named = headers.map(([property = "", value = ""]) => ({ source: "header" as const, property, value }));
  return [...fields, ...named].filter(
    ({ property, value }) => property.length <= MAX_PROPERTY_LENGTH && value.length <= MAX_TARGET_LENGTH && !value.includes("[redacted]"),
  );
}

/** The condition that a value stays as it is. */
export function conditionOf({ source, property, value }: SeenValue): AssertionValues {
  return { source, property, comparison: "equals", target: value, fails_as: "down" };
}
