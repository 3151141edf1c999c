/** Reads what people will see from the request to a service: title, text and links. */
import type { ServiceType } from "../../shared/api/closed-sets";

export interface Card {
  title: string;
  /** The color of the bar, if the message has one. */
  color?: string | undefined;
  lines: readonly string[];
  /** The labels of buttons and links. */
  buttons: readonly string[];
}

interface Parts {
  title: unknown;
  color?: unknown;
  texts: readonly unknown[];
  buttons?: readonly unknown[];
}

/** Titles and values of facts, as most services have them. */
const facts = (list: unknown, name: string) => items(list).map((fact) => `${text(at(fact, name))}: ${text(at(fact, "value"))}`);
const labels = (list: unknown, name: string) => items(list).map((button) => at(button, name));
const firstLine = (value: unknown) => text(value).split("\n")[0];
const afterFirstLine = (value: unknown) => text(value).split("\n").slice(1).join("\n");

const pushed = (body: unknown): Parts => ({
  title: at(body, "title"),
  texts: [at(body, "message") ?? at(body, "body")],
  buttons: [...labels(at(body, "actions"), "label"), at(body, "url_title")],
});

const readers: Record<ServiceType, (body: unknown) => Parts> = {
  slack: (body) => {
    const [header, ...blocks] = items(at(body, "attachments", 0, "blocks"));
    const texts = blocks.flatMap((block) => [at(block, "text", "text"), ...labels(at(block, "elements"), "text")]);
    return { title: at(header, "text", "text"), color: at(body, "attachments", 0, "color"), texts };
  },
  discord: (body) => {
    const embed = at(body, "embeds", 0);
    const { title, color, description, url } = (embed ?? {}) as Record<string, unknown>;
    return { title, color, texts: [description, ...facts(at(embed, "fields"), "name")], buttons: [url === undefined ? "" : "Open"] };
  },
  telegram: (body) => ({
    title: firstLine(at(body, "text")),
    texts: [afterFirstLine(at(body, "text"))],
    buttons: items(at(body, "reply_markup", "inline_keyboard")).flatMap((row) => labels(row, "text")),
  }),
  teams: (body) => {
    const card = at(body, "attachments", 0, "content");
    const set = items(at(card, "body")).find((block) => at(block, "type") === "FactSet");
    return {
      title: at(card, "body", 0, "text"),
      texts: [at(card, "body", 1, "text"), ...facts(at(set, "facts"), "title")],
      buttons: labels(at(card, "actions"), "title"),
    };
  },
  ntfy: pushed,
  pushover: pushed,
  gotify: pushed,
  apprise: pushed,
  pagerduty: (body) => ({
    title: at(body, "payload", "summary"),
    texts: [at(body, "payload", "source"), at(body, "payload", "timestamp")],
    buttons: labels(at(body, "links"), "text"),
  }),
  google_chat: (body) => {
    const card = at(body, "cardsV2", 0, "card");
    const widgets = items(at(card, "sections", 0, "widgets"));
    return {
      title: at(card, "header", "title"),
      texts: [at(card, "header", "subtitle"), ...widgets.map((widget) => at(widget, "textParagraph", "text"))],
      buttons: widgets.flatMap((widget) => labels(at(widget, "buttonList", "buttons"), "text")),
    };
  },
  mattermost: (body) => {
    const attachment = at(body, "attachments", 0);
    return {
      title: at(body, "text"),
      color: at(attachment, "color"),
      texts: [at(attachment, "text"), ...facts(at(attachment, "fields"), "title")],
      buttons: [at(attachment, "title")],
    };
  },
  matrix: (body) => ({ title: firstLine(at(body, "body")), texts: [afterFirstLine(at(body, "body"))] }),
  opsgenie: (body) => ({ title: at(body, "message"), texts: [at(body, "description")] }),
  twilio: (body) => {
    const said = at(body, "Body") ?? /<Say>([^<]*)<\/Say>/.exec(text(at(body, "Twiml")))?.[1];
    return { title: firstLine(said), texts: [afterFirstLine(said)] };
  },
  signal: (body) => {
    const message = text(at(body, "message")).replaceAll("**", "");
    return { title: firstLine(message), texts: [afterFirstLine(message)] };
  },
  alertmanager: (body) => ({ title: at(body, 0, "annotations", "summary"), texts: [at(body, 0, "annotations", "description")] }),
};

/** Null if the request has no message, such as one that only closes an incident. */
export function cardOf(type: ServiceType, body: string): Card | null {
  const parsed = parse(type, body);
  if (parsed === undefined) return null;
  const parts = readers[type](parsed);
  const buttons: string[] = [];
  const title = clean(text(parts.title), buttons).trim();
  if (title === "") return null;
  const lines = parts.texts.flatMap((part) => clean(text(part), buttons).split("\n"));
  const labels = [...buttons, ...(parts.buttons ?? []).map(text)].filter((label) => label !== "");
  return {
    title,
    color: colorOf(parts.color),
    // What remains of a line of links is its separators, and of a fact its name.
    lines: lines.map((line) => line.replace(/^[\s·]+|[\s·]+$/g, "").replace(/^Action:$/, "")).filter((line) => line !== ""),
    buttons: [...new Set(labels)],
  };
}

/** The fields of a body: JSON, or for Twilio a form. */
function parse(type: ServiceType, body: string): unknown {
  if (type === "twilio") return Object.fromEntries(new URLSearchParams(body));
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** Removes the markup of all services, and collects the labels of links. */
function clean(marked: string, links: string[]): string {
  const collect = (_: string, label: string) => {
    links.push(label);
    return "";
  };
  return marked
    .replaceAll(/<https?:[^|>]*\|([^>]+)>/g, collect)
    .replaceAll(/(?<!\\)\[([^\]]+)\]\(https?:[^)]*\)/g, collect)
    .replaceAll(/<a href="[^"]*">([^<]+)<\/a>/g, collect)
    .replaceAll(/^(Acknowledge|Open): https?:\S+$/gm, collect)
    .replaceAll(/<br\s*\/?>/g, "\n")
    .replaceAll(/<\/?[a-z][^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll(/\\([\\`*_~|[\]()<>#!])/g, "$1");
}

function colorOf(color: unknown): string | undefined {
  if (typeof color === "number") return `#${color.toString(16).padStart(6, "0")}`;
  return typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined;
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<string | number, unknown> | null | undefined)?.[key], value);
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
