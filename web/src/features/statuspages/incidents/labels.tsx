/** The status of an incident as a word in a color. */
import type { Incident } from "../../../shared/api/incidents";
import { useTexts } from "../../../shared/i18n";
import { Badge, type Tone } from "../../../shared/ui/badge";
import { isOver } from "./values";

function toneOf({ state, status, kind }: Incident): Tone {
  if (state !== "published") return "wait";
  if (isOver(status)) return "rest";
  return kind === "maintenance" ? "accent" : status === "monitoring" ? "wait" : "down";
}

export function IncidentBadge({ incident }: { incident: Incident }) {
  const { incidents } = useTexts();
  const { state, status } = incident;
  return (
    <Badge tone={toneOf(incident)}>
      {state === "published" ? (incident.cancelled ? incidents.cancelled : incidents.statuses[status]) : incidents.states[state]}
    </Badge>
  );
}
