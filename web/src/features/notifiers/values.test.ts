import { describe, expect, test } from "vitest";
import type { Notifier } from "./data";
import { bodyOf, initial, kindOf, kindOfNotifier, kinds, suggestedName, valuesOf } from "./values";

const base = { notifierid: "0190", name: "ops", isactive: true, disabled_reason: "", created: "", modified: "" };
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

describe("the form of a notifier", () => {
  test("an email notifier that is opened and saved unchanged stays the same", () => {
    const body = bodyOf(valuesOf(email), "0190");
    expect(body).toEqual({ notifierid: "0190", name: "ops", type: "email", email: { ...email.email, security: "tls" } });
  });

  test("so does a webhook, with any template", () => {
    for (const template of ["", "slack", "uptime_kuma", '{"a": {{ text|tojson }}}']) {
      expect(bodyOf(valuesOf(hook(template)), "0190")).toEqual({
        notifierid: "0190",
        name: "ops",
        type: "webhook",
        webhook: { url: "https://hooks.example.com/x", headers: "X-A: 1", template },
      });
    }
  });

  test("the name of a template determines the kind, and any other template is custom", () => {
    expect(kindOfNotifier(hook("Slack"))).toBe("slack");
    expect(kindOfNotifier(hook("{{ text }}"))).toBe("own");
    expect(kindOfNotifier(hook(""))).toBe("standard");
    expect(kindOfNotifier(email)).toBe("email");
  });

  test("every kind is sent as its type, and an unknown kind is email", () => {
    for (const kind of kinds) expect(bodyOf(initial(kind)).type).toBe(kind === "email" ? "email" : "webhook");
    expect(kindOf("pigeon")).toBe("email");
  });

  test("a notifier without a name is named after its recipient", () => {
    expect(suggestedName({ ...initial("email"), "email.to_email": " a@example.com, b@example.com" })).toBe("a@example.com");
    expect(suggestedName({ ...initial("slack"), "webhook.url": "https://hooks.slack.com/services/secret" })).toBe("hooks.slack.com");
    expect(suggestedName(initial("ntfy"))).toBe("");
  });
});
