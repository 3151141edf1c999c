/** The values of a subscriber's form, and of an import. */
import {
  valuesOfSet,
  type StatuspageLanguage,
  type SubscriberFormat,
  type SubscriberKind,
  type SubscriberState,
  type SubscriberTopic,
} from "../../../shared/api/closed-sets";
import type { SaveSubscriber, Subscriber, SubscriberCounts } from "../../../shared/api/subscribers";
import type { Texts } from "../../../shared/i18n";

export const kinds = valuesOfSet<SubscriberKind>({ email: true, webhook: true, slack: true, discord: true, teams: true });
export const states = valuesOfSet<SubscriberState>({ active: true, pending: true, bouncing: true, unsubscribed: true });
export const formats = valuesOfSet<SubscriberFormat>({ standard: true, statuspage: true });
export const topics = valuesOfSet<SubscriberTopic>({ incidents: true, maintenance: true });

export interface Values {
  kind: SubscriberKind;
  address: string;
  format: SubscriberFormat;
  /** `section:id` and `component:id`; empty for everything. */
  scope: string[];
  kinds: SubscriberTopic[];
  language: StatuspageLanguage;
  consent: boolean;
}

const SECTION = "section:";
const COMPONENT = "component:";

export function initial(language: StatuspageLanguage): Values {
  return { kind: "email", address: "", format: "standard", scope: [], kinds: [...topics], language, consent: false };
}

export function valuesOf(subscriber: Subscriber): Values {
  const { sections, components } = subscriber.scope;
  return {
    kind: subscriber.kind,
    address: subscriber.address,
    format: subscriber.format,
    scope: [...sections.map((id) => SECTION + id), ...components.map((id) => COMPONENT + id)],
    kinds: subscriber.kinds,
    language: subscriber.language,
    consent: false,
  };
}

/** What is sent. The address and kind of a stored one stay. */
export function bodyOf({ kind, address, format, scope, kinds: chosen, language, consent }: Values, subscriberid?: string): SaveSubscriber {
  const idsOf = (prefix: string) => scope.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
  return {
    ...(subscriberid === undefined ? { kind, address: address.trim(), consent } : { subscriberid }),
    ...(kind === "webhook" && { format }),
    scope: { sections: idsOf(SECTION), components: idsOf(COMPONENT) },
    kinds: chosen,
    language,
  };
}

export function check({ kind, address, kinds: chosen }: Values, { maintenance, statuspages }: Texts): Record<string, string | undefined> {
  const { subscribers } = statuspages;
  const trimmed = address.trim();
  const isWrong = kind === "email" ? !trimmed.includes("@") : !/^https?:\/\//i.test(trimmed);
  return {
    address:
      trimmed === "" ? maintenance.form.required : isWrong ? (kind === "email" ? subscribers.notEmail : subscribers.notUrl) : undefined,
    kinds: chosen.length === 0 ? subscribers.noTopic : undefined,
  };
}

/** The sections and components of a page as options. */
export function scopeOptions(
  sections: readonly {
    sectionid?: string | undefined;
    name: string;
    components: readonly { componentid?: string | undefined; name: string }[];
  }[],
  sectionName: (place: number) => string,
) {
  return sections.flatMap((section, place) => [
    ...(section.sectionid === undefined ? [] : [{ value: SECTION + section.sectionid, label: section.name || sectionName(place + 1) }]),
    ...section.components.flatMap(({ componentid, name }) =>
      componentid === undefined ? [] : [{ value: COMPONENT + componentid, label: `  ${name || componentid}` }],
    ),
  ]);
}

/** What the service accepts at once. */
export const MAX_IMPORT = 1000;

/** The addresses in a text: one on each line, or the first column with an address of a CSV file. Each is named once. */
export function addressesOf(text: string): string[] {
  const found = text.split(/\r?\n/).flatMap((line) => {
    const cells = line.split(/[,;\t]/).map((cell) =>
      cell
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .replace(/^.*<(.+)>$/, "$1"),
    );
    return cells.find((cell) => /^[^\s@"<>]+@[^\s@"<>]+$/.test(cell)) ?? [];
  });
  return [...new Map(found.map((address) => [address.toLowerCase(), address])).values()];
}

/** Those that get a message, by kind; those of chat tools count as webhooks. */
export function recipientsOf({ email, webhook, slack, discord, teams }: SubscriberCounts): { email: number; webhook: number } {
  return { email, webhook: webhook + slack + discord + teams };
}
