/**
 * Why there was an alert, in the reader's words and days. Of a certificate the
 * service says one sentence that ends with a timestamp; what checks saw stays
 * as it is.
 */
import { day } from "../../../shared/lib/time";
import type { Texts } from "../../../shared/i18n";
import type { Alert } from "../data";

const certificate = /^the certificate of (.+) (expired|expires [^,]+,) on (\S+)$/;

export function causeOf({ kind, cause }: Pick<Alert, "kind" | "cause">, t: Texts, locale: string): string {
  if (kind !== "certificate") return cause;
  const [, name = "", how, until = ""] = certificate.exec(cause) ?? [];
  const at = Date.parse(until);
  if (Number.isNaN(at)) return cause;
  return how === "expired" ? t.alerts.expired(name, day(at, locale)) : t.alerts.expires(name, day(at, locale));
}
