/** What a certificate says, in the words and colours of the page. */
import type { Certificate } from "../data";

const DAY = 86_400_000;
/** Warnings begin this long ahead; the last week is urgent. */
const SOON = 21 * DAY;
const URGENT = 7 * DAY;

/** Whole days until then; below 0 once it is over. */
export function daysLeft({ expires }: Pick<Certificate, "expires">, now: number): number {
  return Math.floor((Date.parse(expires) - now) / DAY);
}

export function toneOf({ expires, trusted }: Pick<Certificate, "expires" | "trusted">, now: number): "up" | "wait" | "down" {
  const left = Date.parse(expires) - now;
  if (!trusted || left <= URGENT) return "down";
  return left <= SOON ? "wait" : "up";
}

/** Why it is not trusted, as far as it can be seen from here. */
export function doubtOf({ expires, trusted, subject, issuer }: Certificate, now: number): "expired" | "itself" | "other" | null {
  if (Date.parse(expires) <= now) return "expired";
  if (trusted) return null;
  return subject !== "" && subject === issuer ? "itself" : "other";
}

/** A distinguished name in short: the common name and the organisation. */
export function called(name: string): string {
  const part = (key: string) => new RegExp(`(?:^|, )${key}=(.*?)(?=, [A-Za-z0-9.]+=|$)`).exec(name)?.[1];
  const [common, organisation] = [part("CN"), part("O")];
  if (common !== undefined && organisation !== undefined && common !== organisation) return `${common} (${organisation})`;
  return common ?? organisation ?? name;
}

/** Whom it is for: the names it is good for, or its subject where there are none. */
export function holders({ names, subject }: Pick<Certificate, "names" | "subject">): string {
  return names.length > 0 ? names.join(", ") : called(subject);
}
