/** The values of an incident's form, and the requests they become. */
import type { ComponentStatus, Impact, IncidentKind, IncidentStatus } from "../../../shared/api/closed-sets";
import type { Incident, IncidentTemplate, PreviewIncident, SaveIncident, SaveIncidentUpdate } from "../../../shared/api/incidents";
import type { Texts } from "../../../shared/i18n";
import { toField } from "../../../shared/lib/date-field";
import { incidentSteps } from "../statuses";
import { sentTexts, translationsOf, type Translations } from "../translation-values";
import { firstStep } from "./template-values";
import { initialRepeat, repeatText, repeatValues, type RepeatValues } from "./repeat";

export interface NamedStatus {
  componentid: string;
  status: ComponentStatus;
}

/** When a maintenance takes place. */
export interface ScheduleValues extends RepeatValues {
  /** In the reader's time zone, as the end. */
  scheduled_for: string;
  scheduled_until: string;
  auto_start: boolean;
  auto_end: boolean;
  /** Hours before the start, separated by commas. */
  remind_hours: string;
  /** Of the repeats; sent as `timezone`. */
  time_zone: string;
}

export interface Values extends ScheduleValues {
  kind: IncidentKind;
  title: string;
  status: IncidentStatus;
  body: string;
  /** Of the title, and of the text. */
  texts: Translations;
  update_texts: Translations;
  components: NamedStatus[];
  pageids: string[];
  /** Empty: derived from the components. */
  impact_override: Impact | "";
  notify: boolean;
  templateid: string | null;
}

const HOUR = 3_600_000;

/** The status that a component gets when it is chosen. */
export function defaultStatus(kind: IncidentKind): ComponentStatus {
  return kind === "maintenance" ? "under_maintenance" : "major_outage";
}

/** A new incident; a new maintenance is in an hour's time, for an hour. */
export function initial(kind: IncidentKind, components: readonly string[], pageids: readonly string[], now: number, zone = "UTC"): Values {
  const starts = Math.ceil(now / HOUR) * HOUR + HOUR;
  return {
    kind,
    title: "",
    status: firstStep(kind),
    body: "",
    texts: {},
    update_texts: {},
    components: components.map((componentid) => ({ componentid, status: defaultStatus(kind) })),
    pageids: [...pageids],
    impact_override: "",
    scheduled_for: toField(new Date(starts)),
    scheduled_until: toField(new Date(starts + HOUR)),
    auto_start: true,
    auto_end: true,
    remind_hours: "24, 1",
    time_zone: zone,
    ...initialRepeat,
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

/** The numbers in a text such as `24, 1`; null if it has something else. */
export function hoursOf(text: string): number[] | null {
  const words = text.split(/[\s,;]+/).filter((word) => word !== "");
  const numbers = words.map(Number);
  return numbers.length <= MAX_REMINDERS && numbers.every((hours) => Number.isInteger(hours) && hours >= 1 && hours <= MAX_HOURS)
    ? numbers
    : null;
}

const MAX_REMINDERS = 5;
const MAX_HOURS = 720;

function scheduleBody(values: ScheduleValues): SaveIncident {
  return {
    scheduled_for: instant(values.scheduled_for),
    scheduled_until: instant(values.scheduled_until),
    auto_start: values.auto_start,
    auto_end: values.auto_end,
    remind_hours: hoursOf(values.remind_hours) ?? [],
    repeat: repeatText(values),
    timezone: values.time_zone,
  };
}

export function bodyOf(values: Values, state: "draft" | "published"): SaveIncident {
  const { kind, title, status, body, components, pageids, notify, templateid, texts, update_texts, impact_override } = values;
  const isTranslated = (of: Translations) => Object.keys(of).length > 0;
  return {
    kind,
    state,
    components,
    pageids,
    notify,
    ...(title.trim() !== "" && { title: title.trim() }),
    ...(templateid !== null && { templateid }),
    ...(isTranslated(texts) && { texts: sentTexts(texts) }),
    ...(impact_override !== "" && kind === "incident" && { impact_override }),
    ...(body.trim() !== "" && {
      update: { status, body, notify, ...(isTranslated(update_texts) && { texts: sentTexts(update_texts) }) },
    }),
    ...(kind === "maintenance" && scheduleBody(values)),
  };
}

/** What is wrong with when a maintenance takes place. */
function checkSchedule(values: ScheduleValues, { maintenance, incidents }: Texts): Record<string, string | undefined> {
  const { scheduled_for, scheduled_until, repeat, rrule } = values;
  const { required } = maintenance.form;
  const isLater = scheduled_until > scheduled_for;
  return {
    scheduled_for: scheduled_for === "" ? required : undefined,
    scheduled_until: isLater ? undefined : scheduled_until === "" ? required : incidents.endsEarly,
    remind_hours: hoursOf(values.remind_hours) === null ? incidents.remindInvalid : undefined,
    repeat: repeat === "custom" && rrule.trim() === "" ? required : undefined,
  };
}

export function check(values: Values, t: Texts): Record<string, string | undefined> {
  const { kind, title, body, components, pageids, templateid } = values;
  const { required } = t.maintenance.form;
  // A template has texts of its own.
  const needed = (text: string) => (text.trim() === "" && templateid === null ? required : undefined);
  return {
    title: needed(title),
    body: needed(body),
    components: components.length + pageids.length === 0 ? t.incidents.noComponents : undefined,
    ...(kind === "maintenance" && checkSchedule(values, t)),
  };
}

/** What can be changed of a stored incident without an update. */
export interface DetailValues extends ScheduleValues {
  title: string;
  texts: Translations;
  impact_override: Impact | "";
}

export function detailValues(incident: Incident): DetailValues {
  const field = (at: string | null | undefined) => (at ? toField(new Date(at)) : "");
  return {
    title: incident.title,
    texts: translationsOf(incident.texts),
    impact_override: incident.impact_override ?? "",
    scheduled_for: field(incident.scheduled_for),
    scheduled_until: field(incident.scheduled_until),
    auto_start: incident.auto_start,
    auto_end: incident.auto_end,
    remind_hours: incident.remind_hours.join(", "),
    time_zone: incident.timezone,
    ...repeatValues(incident.repeat),
  };
}

/** What differs from the stored incident. */
export function detailChanges(incident: Incident, values: DetailValues): SaveIncident {
  const body = ({ title, texts, impact_override, ...schedule }: DetailValues): SaveIncident => ({
    title: title.trim(),
    texts: sentTexts(texts),
    ...(incident.kind === "maintenance" ? scheduleBody(schedule) : { impact_override: impact_override as Impact }),
  });
  const old = body(detailValues(incident)) as Record<string, unknown>;
  const changes = Object.entries(body(values)).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value));
  return { incidentid: incident.incidentid, ...Object.fromEntries(changes) };
}

export function checkDetails(kind: IncidentKind, values: DetailValues, t: Texts): Record<string, string | undefined> {
  return {
    title: values.title.trim() === "" ? t.maintenance.form.required : undefined,
    ...(kind === "maintenance" && checkSchedule(values, t)),
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
  texts: Translations;
  components: NamedStatus[];
  notify: boolean;
}

export function updateValues({ status, components }: Incident): UpdateValues {
  return {
    status,
    body: "",
    texts: {},
    components: components.map(({ componentid, status: shown }) => ({ componentid, status: shown })),
    notify: true,
  };
}

/** Only the components whose status changes are sent. */
export function updateBody(incident: Incident, { status, body, texts, components, notify }: UpdateValues): SaveIncidentUpdate {
  const before = new Map(incident.components.map((one) => [one.componentid, one.status]));
  return {
    status,
    body,
    notify,
    ...(Object.keys(texts).length > 0 && { texts: sentTexts(texts) }),
    components: components.filter((one) => before.get(one.componentid) !== one.status),
    ...(isOver(incident.status) && !isOver(status) && { reopen: true }),
  };
}

/** The incident of a preview. An update needs a text, so an ellipsis stands for one that is still missing. */
export function previewBody(incident: Incident, values: UpdateValues): PreviewIncident {
  const update = updateBody(incident, values);
  return { incidentid: incident.incidentid, update: { ...update, body: values.body.trim() === "" ? "…" : values.body } };
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
