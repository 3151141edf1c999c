import type { Page } from "@playwright/test";
import { expectAccessible } from "./axe";
import { choose, expect, logIn, test } from "./service";

const row = "[data-row]";

const fact = (page: Page, label: string) => page.locator("dl > div").filter({ has: page.getByText(label, { exact: true }) });
const panel = (page: Page, title: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

test("an inverted monitor says so", async ({ page, member, service }) => {
  const closed = { type: "http", http: { url: service.target.url } };
  const usual = await member.api.monitor({ ...closed, name: "open" });
  const inverted = await member.api.monitor({ ...closed, name: "must stay closed", upside_down_mode: true });
  await page.goto(`/monitor/${inverted.monitorid}`);
  await expect(page.getByTitle("Alert when this becomes reachable.")).toHaveText("Inverted");
  await page.goto(`/monitor/${usual.monitorid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("open");
  await expect(page.getByText("Inverted")).toHaveCount(0);
});

test("a paused monitor says since when", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up");
  await page.goto(`/monitor/${monitorid}`);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(fact(page, "Paused for")).toContainText(/^Paused for\d+ s$/);
  // Moves the page's clock ahead.
  await page.clock.install({ time: Date.now() + 3_660_000 });
  await page.reload();
  await expect(fact(page, "Paused for")).toContainText("1 h 1 min");
});

test("a paused monitor that may have been edited later says how long it is paused at least, in every browser", async ({
  page,
  browser,
  baseURL,
  member,
}) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up");
  await member.api.post("monitor/save", { monitorid, isactive: false });
  // The last report an hour ago, and an edit three minutes ago, which a test cannot wait for.
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, member.email);
  for (const each of [page, other]) {
    await each.route(`**/monitor/${monitorid}/get`, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { monitor: object };
      const monitor = { ...body.monitor, last_check: ago(60), modified: ago(3) };
      await route.fulfill({ response: answer, json: { ...body, monitor } });
    });
    await each.goto(`/monitor/${monitorid}`);
    await expect(fact(each, "Paused for")).toContainText(/^Paused forat least 3 min/);
    await each.reload();
    await expect(fact(each, "Paused for")).toContainText(/^Paused forat least 3 min/);
  }
});

test("a resumed monitor is up since its first check after the pause", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup", heartbeat_interval: 60, grace: 1 });
  await member.api.report(monitorid, "up");
  // A pause from ten to three minutes ago, which a test cannot wait for.
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  await page.route(`**/monitor/${monitorid}/get`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { monitor: object };
    const monitor = { ...body.monitor, status_since: ago(60), modified: ago(3) };
    await route.fulfill({ response: answer, json: { ...body, monitor } });
  });
  await page.route(`**/monitor/${monitorid}/heartbeats?*`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { heartbeats: object[] };
    const heartbeats = [0, 1, 2, 10, 11, 12].map((minutes) => ({ ...body.heartbeats[0], at: ago(minutes) }));
    await route.fulfill({ response: answer, json: { ...body, heartbeats } });
  });
  await page.goto(`/monitor/${monitorid}`);
  await expect(fact(page, "Up for")).toContainText(/^Up for2 min/);
});

test("a push monitor has no response time, but shows a duration that its job reports", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up");
  await page.goto(`/monitor/${monitorid}`);
  await expect(fact(page, "Last report")).toBeVisible();
  await expect(page.getByRole("row", { name: /^24 h/ })).toContainText("100 %");
  await expect(page.getByText("Response time")).toHaveCount(0);
  await expect(page.getByText("Reported duration")).toHaveCount(0);
  await member.api.report(monitorid, "up", { load_time: 1500 });
  await expect(fact(page, "Reported duration")).toContainText("1.50 s");
  await expect(panel(page, "Reported duration").getByRole("img")).toHaveAccessibleName(/^Reported duration: /);
});

test("a monitor shows who is notified, and the list marks those without notifiers", async ({ page, member }) => {
  const hook = { name: "our chat", type: "webhook", webhook: { url: "http://chat.localhost:9/secret", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  const linked = await member.api.monitor({ name: "shop", notifiers: notifierid });
  const alone = await member.api.monitor({ name: "search" });
  await page.goto("/");
  const mark = page.getByTitle("No one is notified when this goes down.");
  await expect(page.locator(row).filter({ hasText: "search" }).locator(mark)).toBeVisible();
  await expect(page.locator(row).filter({ hasText: "shop" }).locator(mark)).toHaveCount(0);

  await page.goto(`/monitor/${linked.monitorid}`);
  const list = panel(page, "Notifiers");
  await expect(list).toContainText("chat.localhost");
  await expect(list).not.toContainText("secret");
  await list.getByRole("link", { name: "our chat" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("our chat");

  await member.api.post("notifier/save", { notifierid, isactive: false });
  await page.goto(`/monitor/${linked.monitorid}`);
  await expect(list.getByText("Off", { exact: true })).toBeVisible();
  await expect(list).toContainText("No one is notified when this goes down.");
  await page.goto(`/monitor/${alone.monitorid}`);
  await list.getByRole("link", { name: "Add notifiers" }).click();
  await expect(page).toHaveURL(new RegExp(`/monitor/${alone.monitorid}/edit$`));
});

test("while a monitor is down and no one is notified, a banner says so", async ({ page, member }) => {
  test.setTimeout(180_000);
  const hook = { name: "our chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  const linked = await member.api.monitor({ name: "shop", notifiers: notifierid });
  const alone = await member.api.monitor({ name: "search" });
  await member.api.report(linked.monitorid, "down");
  await page.goto("/");
  await expect(page.locator(`${row}[data-state=down]`)).toHaveCount(1);
  const banner = page.getByRole("status").filter({ hasText: "no one is notified" });
  await expect(banner).toHaveCount(0);
  await member.api.report(alone.monitorid, "down");
  await expect(banner).toContainText("1 monitor is down, and no one is notified: search");
  await expectAccessible(page);
  await banner.getByRole("link", { name: "search" }).click();
  await expect(banner).toContainText("This monitor is down, and no one is notified.");
  await expectAccessible(page);
  await member.api.post("monitor/save", { monitorid: alone.monitorid, notifiers: notifierid });
  await expect(banner).toHaveCount(0);
  await page.goto(`/monitor/${linked.monitorid}`);
  await expect(page.getByText("Down", { exact: true })).toBeVisible();
  await expect(banner).toHaveCount(0);
});

test("a name cannot reverse the text around it", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "invoice\u202Efdp.exe" });
  await member.api.report(monitorid, "down", { message: "disk \u202Elluf" });
  await page.goto("/");
  await expect(page.locator(row).getByRole("link")).toHaveText("invoicefdp.exe");
  await expect(page.locator(row)).toContainText("disk lluf");
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("invoicefdp.exe");
  await expect(page).toHaveTitle("invoicefdp.exe · Wakeful");
  await member.api.report(monitorid, "down", { message: "still \u202Elluf" });
  await expect(page.getByText("still lluf").first()).toBeVisible();
});

test("a monitor with a long name is deleted by typing its beginning", async ({ page, member }) => {
  const name = "The nightly backup of the customer database in Frankfurt ".repeat(4).trim();
  const { monitorid } = await member.api.monitor({ name });
  await page.goto(`/monitor/${monitorid}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel("Type “The nightly backup of the cust” to confirm");
  await field.fill("The nightly backup");
  await expect(dialog.getByRole("button", { name: "Delete" })).toBeDisabled();
  await field.fill("The nightly backup of the cust");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/$/);
});

test("the name given at sign-up is in the account menu", async ({ page }) => {
  const email = `name${process.pid}@example.com`;
  await page.goto("/signup");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse 9");
  await page.getByLabel("Name").fill("Ann Example");
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByRole("button", { name: `Account menu of ${email}` })).toContainText("Ann Example");
});

test.describe("in another region than that of the language", () => {
  test.use({ locale: "de-DE" });

  test("English dates follow the region", async ({ page, request, service }) => {
    const email = `region${process.pid}@example.com`;
    await page.addInitScript(() => localStorage.setItem("wakeful.language", "en"));
    await page.goto("/signup");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password", { exact: true }).fill("correct horse 9");
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByRole("link", { name: "Push", exact: true }).click();
    await choose(page, /^Push/);
    await page.getByLabel("Name", { exact: true }).fill("job");
    await page.getByRole("button", { name: "Create monitor" }).click();
    const push = await page.getByRole("group", { name: /Push URL/ }).innerText();
    expect(push).toContain(service.url);
    await request.get(push);
    // Not “Nov 16, 2026 at 7:02 PM”.
    await expect(fact(page, "Last report").locator("time")).toHaveAttribute("title", /^\d+ [A-Z][a-z]+ \d{4}[^APM]* \d\d:\d\d/);
  });
});
