/** The values of an incident's form, and the requests they become. */
import type { ComponentStatus, IncidentKind, IncidentStatus } from "../../../shared/api/closed-sets";
import type { Incident, IncidentTemplate, SaveIncident, SaveIncidentUpdate } from "../../../shared/api/incidents";
import type { Texts } from "../../../shared/i18n";
import { toField } from "../../../shared/lib/date-field";
import { incidentSteps } from "../statuses";

export interface NamedStatus {
  componentid: string;
  status: ComponentStatus;
}

export interface Values {
  kind: IncidentKind;
  title: string;
  status: IncidentStatus;
  body: string;
  components: NamedStatus[];
  pageids: string[];
  /** In the reader's time zone; of a maintenance. */
  scheduled_for: string;
  scheduled_until: string;
  notify: boolean;
  templateid: string | null;
}

const HOUR = 3_600_000;

/** The status that a component gets when it is chosen. */
export function defaultStatus(kind: IncidentKind): ComponentStatus {
  return kind === "maintenance" ? "under_maintenance" : "major_outage";
}

/** A new incident; a new maintenance is in an hour's time, for an hour. */
export function initial(kind: IncidentKind, components: readonly string[], pageids: readonly string[], now: number): Values {
  const starts = Math.ceil(now / HOUR) * HOUR + HOUR;
  return {
    kind,
    title: "",
    status: kind === "maintenance" ? "scheduled" : "investigating",
    body: "",
    components: components.map((componentid) => ({ componentid, status: defaultStatus(kind) })),
    pageids: [...pageids],
    scheduled_for: toField(new Date(starts)),
    scheduled_until: toField(new Date(starts + HOUR)),
    notify: true,
    templateid: null,
  };
}

/** What a template fills in. Its placeholders are filled in by the service, so texts that have some stay empty until then. */
export function fromTemplate(values: Values, template: IncidentTemplate | undefined): Partial<Values> {
  if (!template) return { templateid: null };
  const { templateid, title, body, status, components } = template;
  const plain = (text: string) => (isTemplate(text) ? "" : text);
  return {
    templateid,
    title: plain(title),
    body: plain(body),
    status: status ?? values.status,
    ...(components.length > 0 && { components: components.map((id) => ({ componentid: id, status: defaultStatus(values.kind) })) }),
  };
}

function isTemplate(text: string): boolean {
  return /\{[{%]/.test(text);
}

const instant = (field: string) => new Date(field).toISOString();

export function bodyOf(values: Values, state: "draft" | "published"): SaveIncident {
  const { kind, title, status, body, components, pageids, notify, templateid } = values;
  return {
    kind,
    state,
    components,
    pageids,
    notify,
    ...(title.trim() !== "" && { title: title.trim() }),
    ...(templateid !== null && { templateid }),
    ...(body.trim() !== "" && { update: { status, body, notify } }),
    ...(kind === "maintenance" && {
      scheduled_for: instant(values.scheduled_for),
      scheduled_until: instant(values.scheduled_until),
    }),
  };
}

export function check(values: Values, { maintenance, incidents }: Texts): Record<string, string | undefined> {
  const { kind, title, body, components, pageids, scheduled_for, scheduled_until, templateid } = values;
  const { required } = maintenance.form;
  const planned = kind === "maintenance";
  // A template has texts of its own.
  const needed = (text: string) => (text.trim() === "" && templateid === null ? required : undefined);
  const isLater = scheduled_until > scheduled_for;
  return {
    title: needed(title),
    body: needed(body),
    components: components.length + pageids.length === 0 ? incidents.noComponents : undefined,
    scheduled_for: planned && scheduled_for === "" ? required : undefined,
    scheduled_until: !planned || isLater ? undefined : scheduled_until === "" ? required : incidents.endsEarly,
  };
}

/** The statuses that an update may have. Maintenance only moves forward; what is over stays so unless it is reopened. */
export function nextSteps({ kind, status }: Pick<Incident, "kind" | "status">): readonly IncidentStatus[] {
  const steps = incidentSteps[kind];
  return kind === "maintenance" ? steps.slice(steps.indexOf(status)) : steps;
}

export function isOver(status: IncidentStatus): boolean {
  return status === "resolved" || status === "completed";
}

export interface UpdateValues {
  status: IncidentStatus;
  body: string;
  components: NamedStatus[];
  notify: boolean;
}

export function updateValues({ status, components }: Incident): UpdateValues {
  return {
    status,
    body: "",
    components: components.map(({ componentid, status: shown }) => ({ componentid, status: shown })),
    notify: true,
  };
}

/** Only the components whose status changes are sent. */
export function updateBody(incident: Incident, { status, body, components, notify }: UpdateValues): SaveIncidentUpdate {
  const before = new Map(incident.components.map((one) => [one.componentid, one.status]));
  return {
    status,
    body,
    notify,
    components: components.filter((one) => before.get(one.componentid) !== one.status),
    ...(isOver(incident.status) && !isOver(status) && { reopen: true }),
  };
}

/** Drafts, what is open, what is planned. */
export function sectionsOf(drafts: readonly Incident[], open: readonly Incident[]) {
  const isPlanned = ({ status }: Incident) => status === "scheduled";
  return {
    drafts,
    open: open.filter((one) => !isPlanned(one)),
    scheduled: open.filter(isPlanned).sort((a, b) => (a.scheduled_for ?? "").localeCompare(b.scheduled_for ?? "")),
  };
}
