/** How a certificate is presented: names, days left, and the color of its badge. */
import type { Certificate } from "../data";

const DAY = 86_400_000;
/** Warnings start this long before the certificate expires; the last week is urgent. */
const WARNING_PERIOD = 21 * DAY;
const URGENT_PERIOD = 7 * DAY;

/** Whole days until it expires; negative afterwards. */
export function daysLeft({ expires }: Pick<Certificate, "expires">, now: number): number {
  return Math.floor((Date.parse(expires) - now) / DAY);
}

export function toneOf({ expires, trusted }: Pick<Certificate, "expires" | "trusted">, now: number): "up" | "wait" | "down" {
  const left = Date.parse(expires) - now;
  if (!trusted || left <= URGENT_PERIOD) return "down";
  return left <= WARNING_PERIOD ? "wait" : "up";
}

/** Why it is not trusted, or null if it is. */
export function distrustReason(
  { expires, trusted, subject, issuer }: Pick<Certificate, "expires" | "trusted" | "subject" | "issuer">,
  now: number,
): "expired" | "selfSigned" | "other" | null {
  if (Date.parse(expires) <= now) return "expired";
  if (trusted) return null;
  return subject !== "" && subject === issuer ? "selfSigned" : "other";
}

/** A distinguished name in short: the common name and the organization. */
export function shortName(name: string): string {
  const part = (key: string) => new RegExp(`(?:^|, )${key}=(.*?)(?=, [A-Za-z0-9.]+=|$)`).exec(name)?.[1];
  const [common, organization] = [part("CN"), part("O")];
  if (common !== undefined && organization !== undefined && common !== organization) return `${common} (${organization})`;
  return common ?? organization ?? name;
}

/** The names it is valid for, or its subject if there are none. */
export function certificateNames({ names, subject }: Pick<Certificate, "names" | "subject">): string {
  return names.length > 0 ? names.join(", ") : shortName(subject);
}
