/**
 * The cause of an alert in the reader's language. For certificates the service
 * has sentences that end with a timestamp; messages of checks stay unchanged.
 */
import { day } from "../../../shared/lib/time";
import type { Texts } from "../../../shared/i18n";
import type { Alert } from "../data";
import { shortName } from "../detail/expiry";

const certificate = /^the certificate of (.+) (expired|expires [^,]+,) on (\S+)$/;

export function causeOf({ kind, cause }: Pick<Alert, "kind" | "cause">, t: Texts, locale: string): string {
  if (kind !== "certificate") return cause;
  const [, subject = "", how, until = ""] = certificate.exec(cause) ?? [];
  const at = Date.parse(until);
  if (Number.isNaN(at)) return cause;
  return how === "expired" ? t.alerts.expired(shortName(subject), day(at, locale)) : t.alerts.expires(shortName(subject), day(at, locale));
}
