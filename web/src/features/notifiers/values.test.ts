import { describe, expect, test } from "vitest";
import type { Notifier } from "./data";
import { kindOfNotifier } from "../../shared/api/notifiers";
import { en } from "../../shared/i18n/en";
import { formOf, offered, offeredKind } from "./kinds";
import { bodyOf, initial, suggestedName, valuesOf } from "./values";

const base = {
  notifierid: "0190",
  name: "ops",
  isactive: true,
  disabled_reason: "",
  created: "",
  modified: "",
  isdefault: true,
  personal: false,
  health: { state: "unused" } as const,
  events: ["monitor.down" as const, "monitor.up" as const],
  min_severity: "info" as const,
  group_wait: 0,
};
const email: Notifier = {
  ...base,
  type: "email",
  email: {
    hostname: "smtp.example.com",
    port: 465,
    security: "TLS",
    ignore_tls_errors: true,
    username: "ann",
    password: "secret",
    from_email: "wakeful@example.com",
    to_email: "ops@example.com, dev@example.com",
    to_cc: "",
    to_bcc: "boss@example.com",
    subject: "{{ text }}",
  },
};
const hook = (template: string): Notifier => ({
  ...base,
  type: "webhook",
  webhook: { url: "https://hooks.example.com/x", headers: "X-A: 1", template },
});

const kindOfSaved = (notifier: Notifier) => kindOfNotifier(notifier, en.notifiers.kinds);
const opened = (notifier: Notifier) => valuesOf(notifier, kindOfSaved(notifier));

describe("the form of a notifier", () => {
  test("an email notifier that is opened and saved unchanged stays the same", () => {
    const body = bodyOf(opened(email), [], "0190");
    expect(body).toEqual({ notifierid: "0190", name: "ops", type: "email", isdefault: true, email: { ...email.email, security: "tls" } });
  });

  test("so does a webhook, with any template", () => {
    for (const template of ["", "slack", "uptime_kuma", '{"a": {{ text|tojson }}}']) {
      expect(bodyOf(opened(hook(template)), [], "0190")).toEqual({
        notifierid: "0190",
        name: "ops",
        type: "webhook",
        isdefault: true,
        webhook: { url: "https://hooks.example.com/x", headers: "X-A: 1", template },
      });
    }
  });

  test("so does the user’s personal notifier, whose address is not sent", () => {
    const account = { userid: "0191", email: "ann@example.com", email_verified: true };
    const own: Notifier = { ...base, type: "account", account };
    expect(kindOfSaved(own)).toBe("account");
    expect(bodyOf(opened(own), [], "0190")).toEqual({ notifierid: "0190", name: "ops", type: "account", isdefault: true });
    expect(bodyOf(initial("account", "ann@example.com"))).toEqual({ name: "ann@example.com", type: "account", isdefault: false });
  });

  test("the name of a template determines the kind, and any other template is custom", () => {
    expect(kindOfSaved(hook("Slack"))).toBe("slack_webhook");
    expect(kindOfSaved({ ...base, type: "slack", slack: { secrets_set: ["token"] } } as Notifier)).toBe("slack");
    expect(kindOfSaved(hook("{{ text }}"))).toBe("own");
    expect(kindOfSaved(hook(""))).toBe("standard");
    expect(kindOfSaved(email)).toBe("email");
  });

  test("every kind is sent as its type, and only known ones are offered", () => {
    for (const kind of offered) expect(bodyOf(initial(kind)).type).toBe(formOf(kind).type);
    expect(offered.filter((kind) => formOf(kind).type === "email")).toEqual(["email"]);
    expect(["slack", "pigeon", "slack_webhook", null].map(offeredKind)).toEqual(["slack", undefined, undefined, undefined]);
  });

  test("a notifier without a name is named after its recipient", () => {
    expect(suggestedName({ ...initial("email"), "email.to_email": " a@example.com, b@example.com" })).toBe("a@example.com");
    expect(suggestedName({ ...initial("standard"), "webhook.url": "https://hooks.slack.com/services/secret" })).toBe("hooks.slack.com");
    expect(suggestedName(initial("standard"))).toBe("");
    expect(suggestedName({ ...initial("ntfy"), "ntfy.topic": " alerts " }, [], "ntfy")).toBe("ntfy alerts");
    expect(suggestedName(initial("discord"), ["Discord"], "Discord")).toBe("Discord (2)");
  });

  test("the names of two notifiers for the same host differ", () => {
    const slack = { ...initial("standard"), "webhook.url": "https://hooks.slack.com/services/secret" };
    expect(suggestedName(slack, ["hooks.slack.com"])).toBe("hooks.slack.com (2)");
    expect(bodyOf(slack, ["hooks.slack.com", "hooks.slack.com (2)"]).name).toBe("hooks.slack.com (3)");
    expect(bodyOf({ ...slack, name: "chat" }, ["chat"]).name).toBe("chat");
  });
});
