import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { axeViolations, COLOR_RULES, horizontalOverflow, openPage, switchScheme } from "./axe";
import { startHook } from "./receiver";
import { expect, test } from "./service";

interface SlackServer {
  url: string;
  /** The tokens and texts of the messages that were posted. */
  messages: { token: string; channel: string; text: string }[];
  close: () => void;
}

/** As much of Slack's API as a message needs: it accepts tokens that begin with xoxb-good. */
async function startSlack(): Promise<SlackServer> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
      const { channel, text } = JSON.parse(body) as { channel: string; text: string };
      const ok = token.startsWith("xoxb-good");
      if (ok) slack.messages.push({ token, channel, text });
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(ok ? { ok, channel, ts: "1700000000.000100" } : { ok, error: "invalid_auth" }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const slack: SlackServer = { url, messages: [], close: () => server.close() };
  return slack;
}

test("a Slack notifier is found in the gallery, previewed, tested and saved; its token is never shown, and remains", async ({
  page,
  member,
}) => {
  const slack = await startSlack();
  await page.goto("/notifiers");
  await page.getByRole("main").getByRole("link", { name: "New notifier" }).click();
  const tiles = page.getByRole("list", { name: "Kinds of notifiers" }).getByRole("button");
  await expect(tiles).toHaveCount(20);
  const search = page.getByLabel("Search kinds");
  await expect(search).toBeFocused();
  await search.fill("carrier pigeon");
  await expect(tiles).toHaveCount(0);
  await search.fill("on-call");
  await expect(tiles).toHaveCount(2);
  await search.press("ArrowDown");
  await expect(tiles.first()).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(search).toBeFocused();
  await search.fill("slack");
  await search.press("Enter");

  await expect(page).toHaveURL(/kind=slack$/);
  await expect(page.getByText("api.slack.com/apps")).toBeVisible();
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByLabel("Bot token", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Bot token", { exact: true }).fill("xoxb-bad");
  await page.getByLabel("Channel ID").fill("C024BE91L");
  await page.getByLabel("API address").fill(slack.url);
  const card = page.getByRole("group", { name: "Preview" });
  await expect(card).toContainText("Storefront");
  await expect(card).toContainText("Open");
  await page.getByText("Show request").click();
  await expect(page.getByRole("group", { name: /^POST .*chat.postMessage$/ })).toContainText("C024BE91L");
  await expect(page.getByText("xoxb-bad")).toHaveCount(0);

  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test failed" })).toContainText("invalid_auth");
  await page.getByLabel("Bot token", { exact: true }).fill("xoxb-good-1");
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered" })).toContainText('"ok":true');
  expect(slack.messages[0]).toMatchObject({ token: "xoxb-good-1", channel: "C024BE91L" });
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Slack C024BE91L");
  expect(JSON.stringify(await member.api.get("notifiers"))).not.toContain("xoxb-good-1");

  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page.getByLabel("Bot token", { exact: true })).toHaveValue("");
  await expect(page.getByLabel("Bot token", { exact: true })).toHaveAttribute("placeholder", "Set. Leave blank to keep it.");
  await page.getByLabel("API address").fill("http://127.0.0.1:9/api");
  await expect(page.getByRole("status").filter({ hasText: "Enter again: Bot token" })).toBeVisible();
  await page.getByLabel("API address").fill(slack.url);
  await expect(page.getByText("Enter again: Bot token")).toHaveCount(0);
  await page.getByLabel("Name", { exact: true }).fill("Team chat");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Team chat");
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered" })).toBeVisible();
  expect(slack.messages.at(-1)?.token).toBe("xoxb-good-1");
  await openPage(page, "/notifiers");
  await expect(page.getByRole("listitem").filter({ hasText: "Team chat" })).toContainText("Slack · C024BE91L");
  slack.close();
});

test("a webhook with the template of Slack is converted", async ({ page, member }) => {
  const hook = await startHook();
  const webhook = { url: hook.url, template: "slack" };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", { name: "chat", type: "webhook", webhook });
  await openPage(page, `/notifier/${notifierid}`);
  await page.getByRole("button", { name: "Convert to Slack" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Convert to Slack" }).click();
  await expect(page.getByText("Converted to Slack.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Convert to Slack" })).toHaveCount(0);
  const { notifiers } = await member.api.get<{ notifiers: object[] }>("notifiers");
  expect(notifiers).toMatchObject([{ notifierid, type: "slack", slack: { secrets_set: ["webhook_url"] } }]);
  hook.close();
});

for (const [language, list] of [
  ["en", "Kinds of notifiers"],
  ["de", "Arten von Meldern"],
] as const) {
  test(`the gallery and the form of a service are accessible, on a phone too, ${language}`, async ({ page, member: _member }) => {
    await page.addInitScript((chosen) => localStorage.setItem("wakeful.language", chosen), language);
    for (const path of ["/notifier/new", "/notifier/new?kind=pushover"]) {
      await openPage(page, path);
      if (!path.includes("kind")) await expect(page.getByRole("list", { name: list }).getByRole("button")).toHaveCount(20);
      expect(await axeViolations(page), path).toEqual([]);
      await switchScheme(page, "dark");
      expect(await axeViolations(page, COLOR_RULES), path).toEqual([]);
      await switchScheme(page, "light");
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await horizontalOverflow(page), path).toBeLessThanOrEqual(0);
      await page.setViewportSize({ width: 1280, height: 860 });
    }
  });
}
