/**
 * The cause of an alert in the reader's language. For what expires the service
 * has sentences that end with a timestamp; messages of checks stay unchanged.
 */
import { day } from "../../../shared/lib/time";
import type { Texts } from "../../../shared/i18n";
import type { Expiring } from "../../../shared/i18n/en";
import type { Alert } from "../data";
import { shortName } from "../detail/expiry";

const warning = /^the (certificate|client certificate|registration) of (.+) (expired|expires [^,]+,) on (\S+)$/;

export function causeOf({ kind, cause }: Pick<Alert, "kind" | "cause">, t: Texts, locale: string): string {
  if (kind !== "certificate") return cause;
  const [, what = "certificate", subject = "", how, until = ""] = warning.exec(cause) ?? [];
  const at = Date.parse(until);
  if (Number.isNaN(at)) return cause;
  const said = how === "expired" ? t.alerts.expired : t.alerts.expires;
  return said(what as Expiring, shortName(subject), day(at, locale));
}
