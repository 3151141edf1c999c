/** The statuses of components and incidents in the order in which they are offered. */
import { valuesOfSet, type ComponentStatus, type IncidentKind, type IncidentStatus } from "../../shared/api/closed-sets";

export const componentStatuses = valuesOfSet<ComponentStatus>({
  operational: true,
  degraded_performance: true,
  partial_outage: true,
  major_outage: true,
  under_maintenance: true,
});

export const incidentSteps: Record<IncidentKind, readonly IncidentStatus[]> = {
  incident: ["investigating", "identified", "monitoring", "resolved"],
  maintenance: ["scheduled", "in_progress", "verifying", "completed"],
};
