/** The mark and name of a notifier's kind, and its health. */
import type { HealthState } from "../../shared/api/closed-sets";
import { kindOfNotifier } from "../../shared/api/notifiers";
import { useTexts } from "../../shared/i18n";
import { Badge, type Tone } from "../../shared/ui/badge";
import type { Notifier } from "./data";
import { KindMark } from "./mark";

export function NotifierMark({ notifier }: { notifier: Notifier }) {
  const t = useTexts();
  return <KindMark kind={kindOfNotifier(notifier, t.notifiers.kinds)} />;
}

export function useKindName(): (notifier: Notifier) => string {
  const t = useTexts();
  return (notifier) => t.notifiers.kinds[kindOfNotifier(notifier, t.notifiers.kinds)];
}

const tones: Record<HealthState, Tone> = { healthy: "up", failing: "down", off: "rest", unused: "wait" };

export function HealthBadge({ notifier: { health } }: { notifier: Notifier }) {
  const t = useTexts();
  return <Badge tone={tones[health.state]}>{t.notifiers.health[health.state]}</Badge>;
}
