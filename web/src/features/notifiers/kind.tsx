/** The icon and name of a notifier's kind. */
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Hook, Mail } from "../../shared/ui/icons";
import type { Notifier } from "./data";
import { kindOfNotifier } from "./values";

export function KindIcon({ notifier }: { notifier: Notifier }) {
  return notifier.type === "email" ? <Mail /> : <Hook />;
}

export function useKindName(): (notifier: Notifier) => string {
  const t = useTexts();
  return (notifier) => t.notifiers.kinds[kindOfNotifier(notifier)];
}

export function OnOff({ notifier }: { notifier: Notifier }) {
  const t = useTexts();
  return <Badge tone={notifier.isactive ? "up" : "rest"}>{notifier.isactive ? t.notifiers.on : t.notifiers.off}</Badge>;
}
