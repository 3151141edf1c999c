/**
 * The values of the form, with the field names that the service uses in its
 * errors, and their conversion into a request. The fields of one type are in its
 * file in ../types.
 */
import { formatDuration, parseDuration } from "../../../shared/lib/duration";
import { find, valuesOfSet, type IpFamily, type Severity } from "../../../shared/api/closed-sets";
import type { Texts } from "../../../shared/i18n";
import { types, type Monitor, type SaveMonitor, type Type } from "../data";
import { LOCAL } from "../regions";
import { defaults, formOf, type TypeValues } from "../types";
import { startingRows, type AssertionValues } from "./assertion";

export interface Values extends TypeValues {
  type: Type;
  name: string;
  description: string;
  isactive: boolean;
  /** Durations, as typed. */
  heartbeat_interval: string;
  timeout: string;
  retry_interval: string;
  resend_interval: string;
  severity: Severity;
  /** An ID, or empty for none. */
  policyid: string;
  upside_down_mode: boolean;
  tags: string[];
  /** IDs. */
  notifiers: string[];
  regions: string[];
  quorum: string;
  retries: number | "";
  depends_on: Monitor["depends_on"];
  flap_outages: number | "";
  /** A duration, as typed. */
  flap_within: string;
  assertions: AssertionValues[];
  evidence: EvidenceLevel;
  ip_family: IpFamily;
  resolver: string;
  connect_to: string;
  /** Milliseconds; empty for none. */
  "degraded.slow": number | "";
  "degraded.factor": number | "";
  "degraded.over": number | "";
  "degraded.of": number | "";
  "degraded.regions": number | "";
  "degraded.notify": boolean;
  /** Percent; empty for none. */
  "slo.target": number | "";
  "slo.days": number | "";
  "slo.degraded": boolean;
}

type EvidenceLevel = Monitor["evidence"];

export const ipFamilies = valuesOfSet<IpFamily>({ any: true, "4": true, "6": true, both: true });

export const evidenceLevels = valuesOfSet<EvidenceLevel>({ full: true, head: true, none: true });

/** How often a new monitor is checked, as text. Registrations hardly ever change, and registries limit queries. */
function startingInterval(type: Type): string {
  return formatDuration(type === "domain" ? 86_400 : 60);
}

/** The interval of a new monitor whose type changes: it follows the type until it is changed. */
export function intervalAfter(before: Pick<Values, "type" | "heartbeat_interval">, type: Type): string {
  return before.heartbeat_interval === startingInterval(before.type) ? startingInterval(type) : before.heartbeat_interval;
}

export function initial(type: Type): Values {
  return {
    ...defaults(),
    type,
    name: "",
    description: "",
    isactive: true,
    heartbeat_interval: startingInterval(type),
    upside_down_mode: false,
    tags: [],
    notifiers: [],
    regions: [LOCAL],
    quorum: "majority",
    timeout: "",
    retries: 1,
    retry_interval: "",
    resend_interval: "",
    severity: "critical",
    policyid: "",
    depends_on: [],
    flap_outages: 0,
    flap_within: formatDuration(3600),
    assertions: startingRows(type),
    evidence: "full",
    ip_family: "any",
    resolver: "",
    connect_to: "",
    "degraded.slow": "",
    "degraded.factor": "",
    "degraded.over": 3,
    "degraded.of": 5,
    "degraded.regions": "",
    "degraded.notify": true,
    "slo.target": "",
    "slo.days": 30,
    "slo.degraded": false,
  };
}

export function typeOf(word: string | null): Type {
  return find(types, word) ?? "http";
}

export function valuesOf(monitor: Monitor): Values {
  const type = typeOf(monitor.type);
  return {
    ...initial(type),
    ...formOf(type).valuesOf(monitor),
    name: monitor.name,
    description: monitor.description,
    isactive: monitor.isactive,
    heartbeat_interval: formatDuration(monitor.heartbeat_interval),
    upside_down_mode: monitor.upside_down_mode,
    tags: monitor.tags,
    notifiers: monitor.notifiers.map(({ notifierid }) => notifierid),
    regions: monitor.regions,
    quorum: monitor.quorum,
    timeout: optional(monitor.timeout),
    retries: monitor.retries,
    retry_interval: optional(monitor.retry_interval),
    resend_interval: optional(monitor.resend_interval),
    severity: monitor.severity,
    policyid: monitor.policyid ?? "",
    depends_on: monitor.depends_on,
    flap_outages: monitor.flap_outages,
    flap_within: formatDuration(monitor.flap_within),
    assertions: monitor.assertions as AssertionValues[],
    evidence: monitor.evidence,
    ip_family: monitor.ip_family ?? "any",
    resolver: monitor.resolver ?? "",
    connect_to: monitor.connect_to ?? "",
    ...(monitor.degraded && {
      "degraded.slow": monitor.degraded.slow || ("" as const),
      "degraded.factor": monitor.degraded.factor || ("" as const),
      "degraded.over": monitor.degraded.over,
      "degraded.of": monitor.degraded.of,
      "degraded.regions": monitor.degraded.regions || ("" as const),
      "degraded.notify": monitor.degraded.notify,
    }),
    ...(monitor.slo && {
      "slo.target": monitor.slo.target,
      "slo.days": monitor.slo.days,
      "slo.degraded": monitor.slo.degraded === "down",
    }),
  };
}

/** A duration that may be empty, for the default of the service. */
function optional(seconds: number | null | undefined): string {
  return seconds ? formatDuration(seconds) : "";
}

function seconds(text: string): number {
  return parseDuration(text) ?? 0;
}

const durations = ["heartbeat_interval", "timeout", "retry_interval", "resend_interval", "flap_within"];

/** Errors that the service could not explain, because it gets numbers. */
export function check(values: Values, t: Texts): Record<string, string> {
  const typed = values as unknown as Record<string, string>;
  const fields = [...durations, ...(formOf(values.type).durations ?? [])];
  const wrong = fields.filter((field) => typed[field]?.trim() !== "" && parseDuration(typed[field] ?? "") === null);
  return Object.fromEntries(wrong.map((field) => [field, t.form.durationInvalid]));
}

/** The request, with the fields of the chosen type; the service has defaults for empty numbers. */
export function bodyOf(values: Values, monitorid?: string): SaveMonitor {
  return {
    ...(monitorid !== undefined && { monitorid }),
    type: values.type,
    name: values.name.trim(),
    description: values.description.trim(),
    isactive: values.isactive,
    heartbeat_interval: seconds(values.heartbeat_interval),
    upside_down_mode: values.upside_down_mode,
    tags: values.tags,
    notifiers: values.notifiers,
    regions: values.regions,
    // With fewer regions than that, all of them.
    quorum: Number(values.quorum) > Math.max(1, values.regions.length) ? "all" : values.quorum,
    // 0 means the default, so that a value can be cleared.
    timeout: seconds(values.timeout),
    retry_interval: seconds(values.retry_interval),
    resend_interval: seconds(values.resend_interval),
    severity: values.severity,
    policyid: values.policyid,
    depends_on: values.depends_on,
    flap_outages: values.flap_outages === "" ? 0 : values.flap_outages,
    ...(values.flap_within.trim() !== "" && { flap_within: seconds(values.flap_within) }),
    ...(values.retries !== "" && { retries: values.retries }),
    // Types without a check have none; those of another type are refused with a message.
    assertions: formOf(values.type).Passive ? [] : values.assertions,
    evidence: values.evidence,
    ...(formOf(values.type).connects && {
      ip_family: values.ip_family,
      resolver: values.resolver.trim(),
      connect_to: values.connect_to.trim(),
    }),
    degraded: degradedOf(values),
    slo: sloOf(values),
    ...formOf(values.type).bodyOf(values),
  };
}

/** An empty object turns it off. */
function degradedOf(values: Values): SaveMonitor["degraded"] {
  const [slow, factor, regions] = [values["degraded.slow"] || 0, values["degraded.factor"] || 0, values["degraded.regions"] || 0];
  const [over, of, notify] = [values["degraded.over"] || 3, values["degraded.of"] || 5, values["degraded.notify"]];
  const isDefault = slow === 0 && factor === 0 && regions === 0 && over === 3 && of === 5 && notify;
  return isDefault ? {} : { slow, factor, over, of, regions, notify };
}

function sloOf(values: Values): SaveMonitor["slo"] {
  const target = values["slo.target"];
  return target === "" ? {} : { target, days: values["slo.days"] || 30, degraded: values["slo.degraded"] ? "down" : "up" };
}

export function suggestedName(values: Values): string {
  return formOf(values.type).suggestedName(values);
}

/** The fields of all types that the result of a check does not depend on. */
const unprobed: ReadonlySet<string> = new Set<keyof SaveMonitor>([
  "monitorid",
  "name",
  "description",
  "isactive",
  "heartbeat_interval",
  "tags",
  "notifiers",
  "regions",
  "quorum",
  "retries",
  "retry_interval",
  "resend_interval",
  "severity",
  "policyid",
  "depends_on",
  "flap_outages",
  "flap_within",
  "evidence",
  "degraded",
  "slo",
]);

/** The part of a request that the result of a check depends on. */
export function probed(body: SaveMonitor): string {
  return JSON.stringify(Object.entries(body).filter(([field]) => !unprobed.has(field)));
}

/** The labels of the fields that all types have. */
export function labelsOf(t: Texts): Record<string, string> {
  const labels = {
    type: t.monitors.type,
    name: t.form.name,
    description: t.form.description,
    isactive: t.form.active,
    heartbeat_interval: t.form.interval,
    upside_down_mode: t.monitors.inverted,
    tags: t.form.tags,
    notifiers: t.notifiers.choose,
    regions: t.regions.choose,
    quorum: t.regions.agree,
    timeout: t.form.timeout,
    retries: t.form.retries,
    retry_interval: t.form.retryInterval,
    resend_interval: t.form.remind,
    severity: t.alerts.severity,
    policyid: t.escalation.policy,
    depends_on: t.form.dependsOn,
    flap_outages: t.form.flapOutages,
    flap_within: t.form.flapWithin,
    assertions: t.assertions.title,
    evidence: t.evidence.level,
    ip_family: t.form.ipFamily,
    resolver: t.form.ownResolver,
    connect_to: t.form.connectTo,
    "degraded.slow": t.form.slow,
    "degraded.factor": t.form.slowFactor,
    "degraded.over": t.form.slowOver,
    "degraded.of": t.form.slowOf,
    "degraded.regions": t.form.slowRegions,
    "degraded.notify": t.form.slowNotify,
    "slo.target": t.form.sloTarget,
    "slo.days": t.form.sloDays,
    "slo.degraded": t.form.sloDegraded,
  } satisfies Record<Exclude<keyof Values, keyof TypeValues>, string>;
  return { ...labels, degraded: t.form.slow, slo: t.form.sloTarget };
}
