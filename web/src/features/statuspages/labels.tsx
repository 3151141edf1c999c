/** The status of a page and of a component as a word in a color. */
import type { Indicator, ShownStatus } from "../../shared/api/closed-sets";
import { useIsLimited } from "../../shared/api/limited";
import { useMay } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Badge, type Tone } from "../../shared/ui/badge";

const indicatorTones: Record<Indicator, Tone> = { none: "up", minor: "wait", major: "down", critical: "down", maintenance: "accent" };

export function IndicatorBadge({ indicator }: { indicator: Indicator }) {
  const { statuspages } = useTexts();
  return <Badge tone={indicatorTones[indicator]}>{statuspages.indicators[indicator]}</Badge>;
}

const statusTones: Record<ShownStatus, Tone> = {
  operational: "up",
  degraded_performance: "wait",
  partial_outage: "down",
  major_outage: "down",
  under_maintenance: "accent",
  unknown: "rest",
};

export function ComponentBadge({ status }: { status: ShownStatus }) {
  const { statuspages } = useTexts();
  return <Badge tone={statusTones[status]}>{statuspages.componentStatuses[status]}</Badge>;
}

/** Whether the user may change pages, or incidents; those who are limited to some monitors may not. */
export function useMayChangePages(permission: "edit" | "respond"): boolean {
  const limited = useIsLimited();
  return useMay(permission) && !limited;
}
