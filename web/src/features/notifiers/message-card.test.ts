import { expect, test } from "vitest";
import { cardOf } from "./message-card";

const page = "https://w.example.com/a/1";

test("a Slack message has a bar, the cause, facts and the labels of its links", () => {
  const blocks = [
    { type: "header", text: { type: "plain_text", text: "Shop is down" } },
    { type: "section", text: { type: "mrkdwn", text: "503 &lt;busy&gt; &amp; slow" } },
    {
      type: "context",
      elements: [{ type: "mrkdwn", text: `https://shop.example.com · down since 10:00 · <${page}|Acknowledge> · <${page}|Open>` }],
    },
  ];
  expect(cardOf("slack", JSON.stringify({ text: "x", attachments: [{ color: "#d4472c", blocks }] }))).toEqual({
    title: "Shop is down",
    color: "#d4472c",
    lines: ["503 <busy> & slow", "https://shop.example.com · down since 10:00"],
    buttons: ["Acknowledge", "Open"],
  });
});

test("so have the messages of other services, without their markup", () => {
  const embed = {
    title: "🔴 Shop \\_1 is down",
    description: "503",
    url: page,
    color: 255,
    fields: [
      { name: "Target", value: "x" },
      { name: "Action", value: `[Acknowledge](${page})` },
    ],
  };
  expect(cardOf("discord", JSON.stringify({ embeds: [embed] }))).toEqual({
    title: "🔴 Shop _1 is down",
    color: "#0000ff",
    lines: ["503", "Target: x"],
    buttons: ["Acknowledge", "Open"],
  });
  const telegram = { text: `🔴 <b>Shop</b>\n503 &lt;x&gt;\nTarget: x\nAcknowledge: ${page}\nOpen: ${page}` };
  expect(cardOf("telegram", JSON.stringify(telegram))).toMatchObject({
    title: "🔴 Shop",
    lines: ["503 <x>", "Target: x"],
    buttons: ["Acknowledge", "Open"],
  });
  const ntfy = { title: "Shop", message: "503\nTarget: x", actions: [{ label: "Acknowledge" }, { label: "Open" }] };
  expect(cardOf("ntfy", JSON.stringify(ntfy))).toMatchObject({
    title: "Shop",
    lines: ["503", "Target: x"],
    buttons: ["Acknowledge", "Open"],
  });
});

test("so have a text message, a call, and the alert of an Alertmanager", () => {
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
  const title = "Shop is down: 503 & slow";
  expect(cardOf("twilio", form({ To: "+15005550006", Body: `${title}\n${page}` }))).toMatchObject({ title, lines: [page] });
  expect(cardOf("twilio", form({ Twiml: "<Response><Say>Shop is down. &lt;503&gt;</Say></Response>" }))?.title).toBe("Shop is down. <503>");
  const signal = { message: `🔴 **Shop \\* is down**\n503\nOpen: ${page}` };
  expect(cardOf("signal", JSON.stringify(signal))).toMatchObject({ title: "🔴 Shop * is down", lines: ["503"], buttons: ["Open"] });
  const alert = { labels: {}, annotations: { summary: "Shop is down", description: `503\nOpen: ${page}` } };
  expect(cardOf("alertmanager", JSON.stringify([alert]))).toMatchObject({ title: "Shop is down", lines: ["503"], buttons: ["Open"] });
});

test("a request without a message, or one that is not JSON, has no card", () => {
  expect(cardOf("pagerduty", JSON.stringify({ event_action: "resolve", dedup_key: "1" }))).toBeNull();
  expect(cardOf("slack", "null")).toBeNull();
  expect(cardOf("teams", "nothing")).toBeNull();
});
