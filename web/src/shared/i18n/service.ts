/**
 * Messages of the service in the reader's language. The service responds in English,
 * for programs; each language has a text for every error code and for every sentence
 * about an invalid field.
 */
import type { ErrorCode } from "../api/closed-sets";
import { interval } from "../lib/time";

/** Sentences of the service and their texts; `{}` is any text, `{n}` a number, `{s}` seconds shown as a duration. */
export type Refusals = readonly (readonly [string, string])[];

export interface ServiceMessages {
  codes: Partial<Record<ErrorCode, string>>;
  refusals: Refusals;
  /** Instead of a message that only a program understands. */
  invalid: string;
}

export function translate(message: string, { refusals, invalid }: ServiceMessages): string {
  return find(message, refusals) ?? (mentionsField(message) ? invalid : message);
}

function find(message: string, table: Refusals): string | undefined {
  for (const [sentence, text] of table) {
    const parts = pattern(sentence).exec(message)?.slice(1);
    if (parts) return text.replaceAll(/\{s?\}/g, (hole) => filled(hole, parts.shift() ?? "", table));
  }
  return undefined;
}

function filled(hole: string, part: string, table: Refusals): string {
  return hole === "{s}" ? interval(Number(part)) : (find(part, table) ?? part);
}

/** Matches the sentence as the service writes it, or as shown under a field: capitalized, with a full stop. */
function pattern(sentence: string): RegExp {
  const fixed = sentence.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${fixed.join("(.+?)").replaceAll("\\{n\\}", "(\\d+)")}\\.?$`, "i");
}

/** `to_email`, `http.username`, `expiryMonth`, `password1`: names that mean something only to programs. */
export function mentionsField(text: string): boolean {
  return /\b[a-z]+(_[a-z0-9]+)+\b|\b(assertions|degraded|slo|ping|keys|keywords|scope|http|oauth2|tls|domain|dns|api|email|webhook|announce|appearance|display|subscribe|sections|components|update|group|rules|hours|quiet|steps|layers|slack|discord|telegram|teams|ntfy|pushover|gotify|pagerduty|mattermost|matrix|opsgenie|apprise|twilio|signal|alertmanager)\.[a-z]|\b[a-z]+[A-Z]|\b(password[12]|oauth2|p256dh|isactive|isdefault|mfacode|tokenid|(user|apikey|method|notifier|monitor|service|stream|invitation|maintenance|alert|policy|schedule|override|page|section|component|incident|update|template|rule|subscriber)ids?)\b/.test(
    text,
  );
}
