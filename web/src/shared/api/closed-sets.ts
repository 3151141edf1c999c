/**
 * The sets of values that the API defines, from its OpenAPI document. Those named
 * `Known…` grow: a newer service may return values that this page does not know.
 */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type MonitorType = Schemas["KnownMonitorType"];
export type MonitorStatus = Schemas["MonitorStatus"];
export type HeartbeatStatus = Schemas["HeartbeatStatus"];
export type EventType = Schemas["KnownEventType"];
export type NotifierType = Schemas["KnownNotifierType"];
/** The types that send to a known service. Their settings are an object with the name of the type. */
export type ServiceType = Exclude<NotifierType, "account" | "email" | "webhook" | "webpush">;
/** The kinds that a new notifier can have: a type, or what a webhook sends. */
export type OfferedKind = Exclude<NotifierType, "webhook" | "webpush"> | "standard" | "uptime_kuma" | "own";
export type WebhookTemplate = Schemas["KnownWebhookTemplate"];
export type AlertStatus = Schemas["AlertStatus"];
export type Severity = Schemas["Severity"];
export type AlertKind = Schemas["AlertKind"];
export type Day = Schemas["Day"];
export type TurnUnit = Schemas["TurnUnit"];
export type QuietThen = Schemas["QuietThen"];
export type SuppressionReason = Schemas["SuppressionReason"];
export type TimelineKind = Schemas["TimelineKind"];
export type DeliveryState = Schemas["DeliveryState"];
export type MembershipState = Schemas["MembershipState"];
export type MaintenanceStatus = Schemas["MaintenanceStatus"];
export type HeartbeatStanding = Schemas["HeartbeatStanding"];
export type InvoiceState = Schemas["InvoiceState"];
export type HttpMethod = Schemas["HttpMethod"];
export type HttpAuthentication = Schemas["HttpAuthentication"];
export type StarttlsProtocol = Schemas["StarttlsProtocol"];
export type IpFamily = Schemas["IpFamily"];
export type HttpVersion = Schemas["HttpVersion"];
export type ClientAuth = Schemas["ClientAuth"];
export type DnsRecordType = Schemas["DnsRecordType"];
export type HealthState = Schemas["HealthState"];
export type MailSecurity = Schemas["MailSecurity"];
export type ErrorCode = Schemas["KnownErrorCode"];
export type ComponentStatus = Schemas["ComponentStatus"];
export type ShownStatus = Schemas["ShownStatus"];
export type Indicator = Schemas["Indicator"];
export type IncidentKind = Schemas["IncidentKind"];
export type IncidentStatus = Schemas["IncidentStatus"];
export type ShownImpact = Schemas["ShownImpact"];
export type Impact = Schemas["Impact"];
export type RuleMode = Schemas["RuleMode"];
export type OnRecovery = Schemas["OnRecovery"];
export type ComponentChoice = Schemas["ComponentChoice"];
export type UptimeFrom = Schemas["UptimeFrom"];
export type SectionCollapsed = Schemas["SectionCollapsed"];
export type StatuspageImage = Schemas["StatuspageImage"];
export type StatuspageAccess = Schemas["StatuspageAccess"];
export type StatuspageLanguage = Schemas["StatuspageLanguage"];
export type SubscriberKind = Schemas["SubscriberKind"];
export type SubscriberState = Schemas["SubscriberState"];
export type SubscriberTopic = Schemas["SubscribedKind"];
export type SubscriberFormat = Schemas["WebhookFormat"];

/** The values of a set, in the order in which they are written; a missing one is an error of the compiler. */
export function valuesOfSet<T extends string>(set: Record<T, true>): readonly T[] {
  return Object.keys(set) as T[];
}

/** The value that a word names, if the set has it. */
export function find<T extends string>(values: readonly T[], word: string | null): T | undefined {
  return values.find((value) => value === word);
}
