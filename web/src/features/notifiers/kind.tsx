/** A notifier's kind as a mark and a word. */
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Hook, Mail } from "../../shared/ui/icons";
import type { Notifier } from "./data";
import { kindOfNotifier } from "./values";

export function KindMark({ notifier }: { notifier: Notifier }) {
  return notifier.type === "email" ? <Mail /> : <Hook />;
}

export function useKindWord(): (notifier: Notifier) => string {
  const t = useTexts();
  return (notifier) => t.notifiers.kinds[kindOfNotifier(notifier)];
}

export function OnOff({ notifier }: { notifier: Notifier }) {
  const t = useTexts();
  return <Badge tone={notifier.isactive ? "up" : "rest"}>{notifier.isactive ? t.notifiers.on : t.notifiers.off}</Badge>;
}
