/**
 * The values of a notifier's form, with the field names that the service uses in
 * its errors. The form has kinds (email, Slack, custom webhook), the service has
 * types and templates; this file converts between them.
 */
import type { Notifier, SaveNotifier } from "./data";

export const kinds = ["email", "standard", "slack", "discord", "teams", "telegram", "ntfy", "pagerduty", "uptime_kuma", "own"] as const;
export type Kind = (typeof kinds)[number];

/** Example URLs of each kind, shown as placeholders. */
export const addresses: Partial<Record<Kind, string>> = {
  slack: "https://hooks.slack.com/services/T000/B000/XXXX",
  discord: "https://discord.com/api/webhooks/0000/XXXX",
  teams: "https://example.webhook.office.com/webhookb2/XXXX",
  telegram: "https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>",
  ntfy: "https://ntfy.sh/<topic>",
  pagerduty: "https://events.pagerduty.com/v2/enqueue?routing_key=<key>",
};

export interface Values {
  kind: Kind;
  name: string;
  "email.hostname": string;
  "email.port": number | "";
  "email.security": string;
  "email.ignore_tls_errors": boolean;
  "email.username": string;
  "email.password": string;
  "email.from_email": string;
  "email.to_email": string;
  "email.to_cc": string;
  "email.to_bcc": string;
  "email.subject": string;
  "webhook.url": string;
  "webhook.headers": string;
  "webhook.template": string;
}

export function kindOf(word: string | null): Kind {
  return kinds.find((kind) => kind === word) ?? "email";
}

/** The kind of a saved notifier, from the name of its template; any other template is custom. */
export function kindOfNotifier({ type, webhook }: Pick<Notifier, "type" | "webhook">): Kind {
  if (type === "email") return "email";
  const template = webhook?.template ?? "";
  if (template === "") return "standard";
  return kinds.find((kind) => kind === template.toLowerCase()) ?? "own";
}

export const STARTING_TEMPLATE = '{"content": {{ text|tojson }}, "url": {{ link|tojson }}}';

export function initial(kind: Kind): Values {
  return {
    kind,
    name: "",
    "email.hostname": "",
    "email.port": 587,
    "email.security": "tls",
    "email.ignore_tls_errors": false,
    "email.username": "",
    "email.password": "",
    "email.from_email": "",
    "email.to_email": "",
    "email.to_cc": "",
    "email.to_bcc": "",
    "email.subject": "",
    "webhook.url": "",
    "webhook.headers": "",
    "webhook.template": STARTING_TEMPLATE,
  };
}

export function valuesOf(notifier: Notifier): Values {
  const { email, webhook } = notifier;
  const kind = kindOfNotifier(notifier);
  return {
    ...initial(kind),
    name: notifier.name,
    ...(email && {
      "email.hostname": email.hostname,
      "email.port": email.port,
      "email.security": email.security.toLowerCase(),
      "email.ignore_tls_errors": email.ignore_tls_errors,
      "email.username": email.username,
      "email.password": email.password,
      "email.from_email": email.from_email,
      "email.to_email": email.to_email,
      "email.to_cc": email.to_cc,
      "email.to_bcc": email.to_bcc,
      "email.subject": email.subject,
    }),
    ...(webhook && {
      "webhook.url": webhook.url,
      "webhook.headers": webhook.headers,
      ...(kind === "own" && { "webhook.template": webhook.template }),
    }),
  };
}

export function bodyOf(values: Values, notifierid?: string): SaveNotifier {
  const name = values.name.trim() === "" ? suggestedName(values) : values.name.trim();
  const body = { ...(notifierid !== undefined && { notifierid }), name };
  if (values.kind === "email") {
    return {
      ...body,
      type: "email",
      email: {
        hostname: values["email.hostname"].trim(),
        port: values["email.port"] === "" ? null : values["email.port"],
        security: values["email.security"],
        ignore_tls_errors: values["email.ignore_tls_errors"],
        username: values["email.username"],
        password: values["email.password"],
        from_email: values["email.from_email"].trim(),
        to_email: values["email.to_email"],
        to_cc: values["email.to_cc"],
        to_bcc: values["email.to_bcc"],
        subject: values["email.subject"],
      },
    };
  }
  return {
    ...body,
    type: "webhook",
    webhook: { url: values["webhook.url"].trim(), headers: values["webhook.headers"], template: templateOf(values) },
  };
}

function templateOf({ kind, "webhook.template": own }: Values): string {
  return kind === "standard" ? "" : kind === "own" ? own : kind;
}

/** The default name: the first recipient, or the host. */
export function suggestedName(values: Values): string {
  if (values.kind === "email") return values["email.to_email"].split(",")[0]?.trim() ?? "";
  try {
    return new URL(values["webhook.url"]).host;
  } catch {
    return "";
  }
}
