/** The values of a template's form, and the request they become. */
import type { Impact, IncidentKind, IncidentStatus } from "../../../shared/api/closed-sets";
import type { IncidentTemplate, SaveIncidentTemplate } from "../../../shared/api/incidents";
import type { Texts } from "../../../shared/i18n";

export interface TemplateValues {
  name: string;
  kind: IncidentKind;
  title: string;
  body: string;
  status: IncidentStatus;
  /** Empty: derived from the components. */
  impact: Impact | "";
  components: string[];
}

export function firstStep(kind: IncidentKind): IncidentStatus {
  return kind === "maintenance" ? "scheduled" : "investigating";
}

export function initialTemplate(): TemplateValues {
  return { name: "", kind: "incident", title: "", body: "", status: "investigating", impact: "", components: [] };
}

export function templateValues({ name, kind, title, body, status, impact, components }: IncidentTemplate): TemplateValues {
  return { name, kind, title, body, status: status ?? firstStep(kind), impact: impact ?? "", components };
}

/** An empty impact clears it. */
export function templateBody(values: TemplateValues, templateid?: string): SaveIncidentTemplate {
  return { ...values, name: values.name.trim(), impact: values.impact as Impact, templateid };
}

export function checkTemplate({ name, title, body }: TemplateValues, { maintenance }: Texts): Record<string, string | undefined> {
  const needed = (text: string) => (text.trim() === "" ? maintenance.form.required : undefined);
  return { name: needed(name), title: needed(title), body: needed(body) };
}
