import { describe, expect, test } from "vitest";
import { describeNotifier } from "../../shared/api/notifiers";
import { de } from "../../shared/i18n/de";
import { en } from "../../shared/i18n/en";
import type { Notifier, ServiceField } from "./data";
import { services } from "./kinds";
import { keptSecrets, labelOf, savedSettings, secretsSet, storedValues } from "./services";

const field = (name: string, type = "text", more: Partial<ServiceField> = {}): ServiceField => ({
  name,
  type,
  required: false,
  secret: false,
  default: "",
  help: "As the service says.",
  ...more,
});
const fields = [
  field("token", "text", { secret: true }),
  field("channel"),
  field("webhook_url", "url", { secret: true }),
  field("api_url", "url", { default: "https://slack.com/api" }),
];
const stored = {
  notifierid: "0190",
  name: "ops",
  type: "slack",
  slack: { secrets_set: ["token", "webhook_url"], channel: "C1", api_url: "https://slack.com/api" },
} as unknown as Notifier;

const sources: Record<string, string> = import.meta.glob("../../../../crates/wakeful-core/src/notifications/notifier/*.rs", {
  query: "?raw",
  import: "default",
  eager: true,
});

describe("the settings of a service", () => {
  test("a secret left blank is not sent, a removed one is sent empty, and other settings are sent as they are", () => {
    const values = storedValues("slack", stored);
    expect(savedSettings("slack", values)).toEqual({ channel: "C1", api_url: "https://slack.com/api" });
    expect(secretsSet(stored, "slack")).toEqual(["token", "webhook_url"]);
    const edited = { ...values, "slack.token": " xoxb-1 ", "slack.webhook_url": null, "slack.channel": "", "ntfy.topic": "x" };
    expect(savedSettings("slack", edited)).toEqual({ token: "xoxb-1", webhook_url: "", channel: "", api_url: "https://slack.com/api" });
    expect(savedSettings("pushover", { "pushover.emergency": false })).toEqual({ emergency: false });
  });

  test("another address asks for the secrets that are sent there, until they are entered", () => {
    const values = storedValues("slack", stored);
    const names = (changes: object) => keptSecrets("slack", fields, { ...values, ...changes }, stored).map(({ name }) => name);
    expect(names({})).toEqual([]);
    expect(names({ "slack.api_url": "" })).toEqual([]);
    expect(names({ "slack.api_url": "https://other.example.com" })).toEqual(["token"]);
    expect(names({ "slack.api_url": "https://other.example.com", "slack.token": "xoxb-2" })).toEqual([]);
    expect(names({ "slack.channel": "C2" })).toEqual([]);
  });

  test("the list names the receiver without secrets, or only the kind", () => {
    expect(describeNotifier(stored, en.notifiers.kinds)).toBe("Slack · C1");
    const discord = { type: "discord", discord: { secrets_set: ["webhook_url"], thread_id: "" } } as unknown as Notifier;
    expect(describeNotifier(discord, en.notifiers.kinds)).toBe("Discord");
    const gotify = { type: "gotify", gotify: { secrets_set: ["token"], server: "https://push.example.com/x" } } as unknown as Notifier;
    expect(describeNotifier(gotify, de.notifiers.kinds)).toBe("Gotify · push.example.com");
  });

  test("every setting of every service has texts in both languages, and no text is left over", () => {
    const paths = Object.values(sources).flatMap((source) =>
      [...source.matchAll(/Field::\w+\(\s*"(\w+\.\w+)"/g)].map(([, path]) => path ?? ""),
    );
    expect(paths.length).toBeGreaterThan(40);
    expect(new Set(paths.map((path) => path.split(".")[0]))).toEqual(new Set(services));
    const known = new Set([...paths, ...paths.map((path) => path.split(".")[1])]);
    const lists = Object.values(sources).flatMap((source) => [...source.matchAll(/hoice\((?:\s*"[^"]*",\s*)?&\[([^\]]+)\]/g)]);
    const choices = lists.flatMap(([, list = ""]) => [...list.matchAll(/\w+/g)].map(([word]) => word));
    expect(choices.toSorted()).toEqual(["both", "both", "call", "mattermost", "reply", "rocketchat", "sms", "update"]);
    for (const { notifierKinds } of [en, de]) {
      const texts = Object.keys(notifierKinds.fields);
      expect(paths.filter((path) => !texts.includes(path) && !texts.includes(path.split(".")[1] ?? ""))).toEqual([]);
      expect(texts.filter((path) => !known.has(path))).toEqual([]);
      expect(choices.filter((word) => notifierKinds.options[word] === undefined)).toEqual([]);
    }
  });

  test("a setting of a later version has its name and the help of the service", () => {
    expect(labelOf("slack", field("new_thing"), de)).toEqual(["new thing", "As the service says."]);
    expect(labelOf("telegram", field("api_url"), de)[0]).toBe("Adresse der API");
  });
});
