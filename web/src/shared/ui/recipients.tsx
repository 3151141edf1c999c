/** The recipients that a mail server refused, with its replies; nothing if it accepted all of them. */
import type { Recipients } from "../api/deliveries";
import { useTexts } from "../i18n";

export function RefusedRecipients({ recipients }: { recipients: Recipients | undefined }) {
  const t = useTexts();
  if (!recipients || recipients.refused.length === 0) return null;
  const refused = recipients.refused.map(({ address, answer }) => `${address} (${answer})`).join(", ");
  return <span data-refused>{t.notifiers.refused(recipients.accepted, recipients.total, refused)}</span>;
}
