/** The values of a status page's form, with the field names that the service uses in its errors, and the requests they become. */
import type {
  ComponentChoice,
  ComponentStatus,
  SectionCollapsed,
  StatuspageAccess,
  StatuspageLanguage,
  UptimeFrom,
} from "../../shared/api/closed-sets";
import type { SaveStatuspage, Statuspage } from "../../shared/api/statuspages";
import type { Texts } from "../../shared/i18n";
import { durationOf, durationText } from "../../shared/ui/duration-input";
import { ruleBody, rulesOf, type RuleValues } from "./rule-values";
import { sentTexts, translationsOf, type Translations } from "./translation-values";

export interface ComponentValues {
  /** Stays the same while the component is moved. */
  key: string;
  componentid: string | undefined;
  name: string;
  description: string;
  monitors: string[];
  tag: string;
  /** `all`, `any` or a number. */
  needs: string;
  /** Null once all of its monitors were deleted, until it is chosen. */
  own_status: ComponentStatus | null;
  only_show_if_degraded: boolean;
  link: string;
  alias: string;
  /** Undefined for the one that fits: monitors if it has some. */
  uptime_from: UptimeFrom | undefined;
  /** What of it is shown; unless set, what the page shows of all. */
  display: ComponentDisplayValues;
  texts: Translations;
}

export interface ComponentDisplayValues {
  uptime: ComponentChoice;
  response_time: ComponentChoice;
  certificate: ComponentChoice;
}

export interface SectionValues {
  key: string;
  sectionid: string | undefined;
  name: string;
  description: string;
  collapsed: SectionCollapsed;
  texts: Translations;
  components: ComponentValues[];
}

export interface DomainValues {
  domain: string;
  primary: boolean;
}

export interface LinkValues {
  text: string;
  url: string;
}

export interface Values {
  name: string;
  slug: string;
  description: string;
  footer: string;
  published: boolean;
  sections: SectionValues[];
  language: StatuspageLanguage;
  languages: StatuspageLanguage[];
  texts: Translations;
  /** Sent as `timezone`. */
  time_zone: string;
  "appearance.scheme": NonNullable<Statuspage["appearance"]["scheme"]>;
  "appearance.accent": string;
  "appearance.layout": NonNullable<Statuspage["appearance"]["layout"]>;
  "appearance.custom_css": string;
  "appearance.powered_by": boolean;
  "appearance.links": LinkValues[];
  "display.history_days": number;
  "display.decimals": number;
  "display.incident_days": number;
  "display.collapsed": NonNullable<Statuspage["display"]["collapsed"]>;
  "display.bars": boolean;
  "display.uptime": boolean;
  "display.response_times": boolean;
  "display.certificates": boolean;
  "display.outages": boolean;
  access: StatuspageAccess;
  /** Empty: the stored one stays. */
  password: string;
  allowed_networks: string[];
  indexed: boolean;
  domains: DomainValues[];
  embed_origins: string[];
  /** A duration; empty for none. */
  shown_after: string;
  rules: RuleValues[];
  "subscribe.email": boolean;
  "subscribe.webhook": boolean;
  "subscribe.chat": boolean;
  "subscribe.feeds": boolean;
  "subscribe.choose": boolean;
  /** The id of a notifier; empty for the service's own mail. */
  "subscribe.sender": string;
  "subscribe.reply_to": string;
}

/** What the service allows. */
export const MAX_SECTIONS = 50;
export const MAX_COMPONENTS = 500;
export const MAX_DOMAINS = 10;
export const MAX_LINKS = 8;
const MIN_PASSWORD = 8;
/** An outage is shown after an hour at the latest. */
const MAX_SHOWN_AFTER = 3600;

let created = 0;
const newKey = () => `new ${(created += 1)}`;

export function newSection(components: ComponentValues[] = []): SectionValues {
  return { key: newKey(), sectionid: undefined, name: "", description: "", collapsed: "inherit", texts: {}, components };
}

export function newComponent(part: Partial<ComponentValues> = {}): ComponentValues {
  return {
    key: newKey(),
    componentid: undefined,
    name: "",
    description: "",
    monitors: [],
    tag: "",
    needs: "all",
    own_status: "operational",
    only_show_if_degraded: false,
    link: "",
    alias: "",
    uptime_from: undefined,
    display: { uptime: "inherit", response_time: "inherit", certificate: "inherit" },
    texts: {},
    ...part,
  };
}

/** A new page: one section with a component for each monitor. */
export function proposal(
  name: string,
  zone: string,
  language: "en" | "de",
  monitors: readonly { monitorid: string; name: string }[],
): Values {
  const sorted = monitors.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, MAX_COMPONENTS);
  return {
    name,
    slug: "",
    description: "",
    footer: "",
    published: false,
    sections: [newSection(sorted.map((monitor) => newComponent({ name: monitor.name, monitors: [monitor.monitorid] })))],
    language,
    languages: [],
    texts: {},
    time_zone: zone,
    "appearance.scheme": "auto",
    "appearance.accent": "",
    "appearance.layout": "list",
    "appearance.custom_css": "",
    "appearance.powered_by": true,
    "appearance.links": [],
    "display.history_days": 90,
    "display.decimals": 3,
    "display.incident_days": 7,
    "display.collapsed": "never",
    "display.bars": true,
    "display.uptime": true,
    "display.response_times": false,
    "display.certificates": false,
    "display.outages": false,
    access: "public",
    password: "",
    allowed_networks: [],
    indexed: false,
    domains: [],
    embed_origins: ["*"],
    shown_after: "",
    rules: [],
    "subscribe.email": true,
    "subscribe.webhook": false,
    "subscribe.chat": false,
    "subscribe.feeds": true,
    "subscribe.choose": true,
    "subscribe.sender": "",
    "subscribe.reply_to": "",
  };
}

export function valuesOf(page: Statuspage): Values {
  const { appearance, display, subscribe } = page;
  return {
    name: page.name,
    slug: page.slug,
    description: page.description,
    footer: page.footer,
    published: page.published,
    sections: page.sections.map(({ sectionid, name, description, collapsed, texts, components }) => ({
      key: sectionid,
      sectionid,
      name,
      description,
      collapsed,
      texts: translationsOf(texts),
      components: components.map((one) => ({
        key: one.componentid,
        componentid: one.componentid,
        name: one.name,
        description: one.description,
        monitors: one.monitors.map(({ monitorid }) => monitorid),
        tag: one.tag,
        needs: one.needs,
        own_status: one.own_status ?? null,
        only_show_if_degraded: one.only_show_if_degraded,
        link: one.link,
        alias: one.alias,
        uptime_from: one.uptime_from,
        display: {
          uptime: one.display.uptime ?? "inherit",
          response_time: one.display.response_time ?? "inherit",
          certificate: one.display.certificate ?? "inherit",
        },
        texts: translationsOf(one.texts),
      })),
    })),
    language: page.language,
    languages: page.languages,
    texts: translationsOf(page.texts),
    time_zone: page.timezone,
    "appearance.scheme": appearance.scheme ?? "auto",
    "appearance.accent": appearance.accent ?? "",
    "appearance.layout": appearance.layout ?? "list",
    "appearance.custom_css": appearance.custom_css ?? "",
    "appearance.powered_by": appearance.powered_by ?? true,
    "appearance.links": appearance.links ?? [],
    "display.history_days": display.history_days ?? 90,
    "display.decimals": display.decimals ?? 3,
    "display.incident_days": display.incident_days ?? 7,
    "display.collapsed": display.collapsed ?? "never",
    "display.bars": display.bars ?? true,
    "display.uptime": display.uptime ?? true,
    "display.response_times": display.response_times ?? false,
    "display.certificates": display.certificates ?? false,
    "display.outages": display.outages ?? false,
    access: page.access,
    password: "",
    allowed_networks: page.allowed_networks,
    indexed: page.indexed,
    domains: page.domains.map(({ domain, primary = false }) => ({ domain, primary })),
    embed_origins: page.embed_origins,
    shown_after: durationText(page.shown_after),
    rules: rulesOf(page.rules),
    "subscribe.email": subscribe.email ?? true,
    "subscribe.webhook": subscribe.webhook ?? false,
    "subscribe.chat": subscribe.chat ?? false,
    "subscribe.feeds": subscribe.feeds ?? true,
    "subscribe.choose": subscribe.choose ?? true,
    "subscribe.sender": subscribe.sender ?? "",
    "subscribe.reply_to": subscribe.reply_to ?? "",
  };
}

/** The fields that are sent as the form has them. */
const OWN_FIELDS = [
  "name",
  "description",
  "footer",
  "published",
  "language",
  "languages",
  "texts",
  "access",
  "allowed_networks",
  "indexed",
  "domains",
  "embed_origins",
] as const satisfies readonly (keyof Values)[];

/** The whole page as the form has it. */
export function bodyOf(values: Values): SaveStatuspage {
  const { slug, password, time_zone } = values;
  const stored = values.sections.flatMap(({ components }) => components.flatMap(({ componentid }) => componentid ?? []));
  return {
    ...Object.fromEntries(OWN_FIELDS.map((field) => [field, values[field]])),
    timezone: time_zone,
    shown_after: durationOf(values.shown_after) ?? 0,
    rules: values.rules.map((rule) => ruleBody(rule, stored)),
    subscribe: partOf(values, "subscribe."),
    // Without one, the service makes it of the name.
    ...(slug.trim() !== "" && { slug: slug.trim() }),
    ...(password !== "" && { password }),
    appearance: partOf(values, "appearance."),
    display: partOf(values, "display."),
    sections: values.sections.map(({ components, ...section }) => ({
      ...section,
      key: undefined,
      texts: sentTexts(section.texts),
      components: components.map((component) => ({ ...component, key: undefined, texts: sentTexts(component.texts) })),
    })),
  };
}

/** The fields of a nested object. */
function partOf(values: Values, prefix: string): Record<string, never> {
  const fields = Object.entries(values).filter(([field]) => field.startsWith(prefix));
  return Object.fromEntries(fields.map(([field, value]) => [field.slice(prefix.length), value as never]));
}

/** What differs from the stored page, so that a save never undoes someone else's change of another field. */
export function changesOf(page: Statuspage, values: Values): SaveStatuspage {
  const old = bodyOf(valuesOf(page)) as Record<string, unknown>;
  const changes = Object.entries(bodyOf(values)).filter(([field, value]) => JSON.stringify(old[field]) !== JSON.stringify(value));
  return { pageid: page.pageid, ...Object.fromEntries(changes) };
}

export function check(values: Values, t: Texts, hasPassword = false): Record<string, string | undefined> {
  const { name, access, password, shown_after } = values;
  const delay = durationOf(shown_after);
  const short = password.length < MIN_PASSWORD && (password !== "" || (access === "password" && !hasPassword));
  return {
    name: name.trim() === "" ? t.maintenance.form.required : undefined,
    password: short ? t.statuspages.access.passwordShort : undefined,
    shown_after: delay === null ? t.form.durationInvalid : delay > MAX_SHOWN_AFTER ? t.statuspages.display.shownAfterLong : undefined,
  };
}

export function countComponents(sections: readonly SectionValues[]): number {
  return sections.reduce((sum, { components }) => sum + components.length, 0);
}

/** The component in another section, at its end. */
export function toSection(sections: readonly SectionValues[], component: ComponentValues, to: string): SectionValues[] {
  return sections.map((section) => {
    const others = section.components.filter(({ key }) => key !== component.key);
    return { ...section, components: section.key === to ? [...others, component] : others };
  });
}

/** The field of a warning as errors name it: `sections[0].name` is `sections.0.name`. */
export function fieldName(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, ".$1");
}

/** How many components have a name that looks like a host or an address, by the warnings of the preview. */
export function hostNames(warnings: readonly { field: string }[]): number {
  return warnings.filter(({ field }) => field.startsWith("sections") && field.endsWith(".name")).length;
}
