import type { Page } from "@playwright/test";
import { axeViolations, horizontalOverflow, switchScheme } from "./axe";
import { startHook, type Hook } from "./receiver";
import { expect, test, type Api, type Member } from "./service";

/** A monitor that is down; returns the id of its alert. */
async function outage(api: Api, name: string, extra: object = {}): Promise<string> {
  const { monitorid } = await api.monitor({ name, ...extra });
  await api.report(monitorid, "up");
  await api.report(monitorid, "down", { message: "disk full" });
  return (await alertOf(api, monitorid)).alertid;
}

interface Alert {
  alertid: string;
  status: string;
  monitor: { monitorid: string; name: string };
  acknowledged: { name: string; via: string } | null;
}

async function alertOf(api: Api, monitorid: string): Promise<Alert> {
  const { alerts } = await api.get<{ alerts: Alert[] }>(`monitor/${monitorid}/alerts`);
  const [newest] = alerts;
  if (!newest) throw new Error("there is no alert");
  return newest;
}

const statusOf = async (api: Api, alertid: string) => (await api.get<{ alert: Alert }>(`alert/${alertid}/get`)).alert.status;

const rows = (page: Page) => page.getByRole("main").getByRole("checkbox", { name: /Select the alert/ });
const tab = (page: Page, name: string) => page.getByRole("navigation", { name: "Status" }).getByRole("link", { name });

test("alerts are listed by status and filter, and several are acknowledged at once, live", async ({ page, member: { api } }) => {
  await outage(api, "shop", { tags: "prod" });
  await outage(api, "blog", { severity: "info" });
  const mail = await outage(api, "mail");
  await page.goto("/alerts");
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole("combobox", { name: "Severity" }).selectOption("Info");
  await expect(page).toHaveURL(/\?severity=info$/);
  await expect(rows(page)).toHaveCount(1);
  await page.goto("/alerts?tag=prod");
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("/");
  await expect(page.getByLabel("Search alerts")).toBeFocused();
  await page.keyboard.type("nothing");
  await expect(page.getByText("No alerts match")).toBeVisible();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect(rows(page)).toHaveCount(3);

  await page.getByRole("checkbox", { name: "Select the alert for shop" }).check();
  await page.getByRole("checkbox", { name: "Select the alert for blog" }).check();
  await page.getByRole("toolbar").getByRole("button", { name: "Acknowledge" }).click();
  await expect(page.getByText("2 alerts acknowledged.")).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  // Somebody else responds meanwhile.
  await api.post(`alert/${mail}/snooze`, { seconds: 3600 });
  await expect(page.getByText("No open alerts")).toBeVisible();

  await tab(page, "Acknowledged").click();
  await expect(page).toHaveURL(/\?tab=acknowledged$/);
  await expect(page.getByText(/^Acknowledged by /)).toHaveCount(2);
  await expect(page.getByText(/^Snoozed until /)).toHaveCount(1);
  await page.goto("/");
  await expect(page.locator("[data-row]").filter({ hasText: "shop" })).toContainText("Acknowledged by");
});

test("alerts that are over are skipped, and the page says which", async ({ page, member: { api } }) => {
  await page.route("**/api/v1/events?*", (route) => route.abort());
  const alertid = await outage(api, "shop");
  await outage(api, "blog");
  await page.goto("/alerts");
  await page.getByRole("checkbox", { name: "Select the alert for shop" }).check();
  await page.getByRole("button", { name: "Select all" }).click();
  await page.getByRole("toolbar").getByRole("button", { name: "Resolve" }).click();
  const dialog = page.getByRole("dialog", { name: "Resolve 2 alerts?" });
  await dialog.getByLabel("Comment").fill("planned");
  await api.post(`alert/${alertid}/resolve`, {});
  await dialog.getByRole("button", { name: "Resolve" }).click();
  await expect(page.getByText("Alert resolved.")).toBeVisible();
  await expect(page.getByText("1 was skipped: shop (already over)")).toBeVisible();
  await tab(page, "Over").click();
  await expect(page.getByText(/^Resolved by /)).toHaveCount(2);
  await expect(rows(page)).toHaveCount(0);
});

test("an alert is handled on its page with the keyboard alone, and its timeline says who did what", async ({ page, member: { api } }) => {
  const alertid = await outage(api, "shop");
  await page.goto("/alerts");
  await page.getByRole("link", { name: "shop" }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/alert/${alertid}$`));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Alert for shop");
  const press = async (name: string, item?: string) => {
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
    if (item === undefined) return;
    await page.getByRole("menuitem", { name: item, exact: true }).focus();
    await page.keyboard.press("Enter");
  };
  const timeline = page.getByRole("main").getByRole("list").last();

  await press("Acknowledge");
  await expect(page.getByText("Alert acknowledged.")).toBeVisible();
  await expect(timeline).toContainText("acknowledged the alert");
  await press("Unacknowledge");
  await expect(timeline).toContainText("withdrew the acknowledgement");
  await press("Assign", "Me");
  await expect(timeline).toContainText("assigned the alert to");
  await press("Severity", "Warning");
  await expect(timeline).toContainText("changed the severity to Warning");
  await press("Snooze", "Until…");
  const until = page.getByLabel("Date and time");
  await expect(until).toBeFocused();
  await until.fill("2020-01-01T09:00");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Choose a time between one minute and 30 days from now.")).toBeVisible();
  await page.keyboard.press("Escape");
  await press("Snooze", "For 4 hours");
  await expect(page.getByText(/^Snoozed until /)).toBeVisible();
  await page.getByLabel("Comment").fill("replaced the disk");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(timeline).toContainText("replaced the disk");
  await press("Resolve");
  await page.getByRole("dialog").getByLabel("Comment").fill("not needed any more");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(timeline).toContainText("resolved the alert");
  await expect(timeline.getByRole("listitem").last()).toContainText("not needed any more");
  await expect(page.getByRole("button", { name: "Snooze" })).toHaveCount(0);
  expect(await statusOf(api, alertid)).toBe("resolved");
});

test("the severity of a monitor is that of its alerts", async ({ page, member: { api } }) => {
  const { monitorid } = await api.monitor({ name: "shop" });
  await page.goto(`/monitor/${monitorid}/edit`);
  await page.getByRole("textbox", { name: "Severity" }).click();
  await page.getByRole("option", { name: "Warning" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("definition").filter({ hasText: "Warning" })).toBeVisible();
  await api.report(monitorid, "up");
  await api.report(monitorid, "down");
  await expect(page.getByText("Severity: Warning").first()).toBeAttached();
});

/** An outage with the action link that a webhook received about it. */
async function linked({ api }: Member, hook: Hook) {
  const { notifierid } = await api.post<{ notifierid: string }>("notifier/save", {
    name: "ops",
    type: "webhook",
    webhook: { url: hook.url },
  });
  const alertid = await outage(api, "shop", { notifiers: notifierid });
  await expect.poll(() => hook.bodies.length).toBe(1);
  const { data } = JSON.parse(hook.bodies[0] ?? "") as { data: { action_url: string } };
  return { alertid, path: data.action_url.replace(/^.*\/api\/action\//, "/a/") };
}

test("an action link acknowledges an alert with a name and without a login", async ({ browser, member, service }) => {
  const hook = await startHook();
  const { alertid, path } = await linked(member, hook);
  const visitor = await browser.newContext({ viewport: { width: 320, height: 640 }, reducedMotion: "reduce" });
  const page = await visitor.newPage();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const network = await visitor.newCDPSession(page);
  await network.send("Network.enable");
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto(service.url + path, { waitUntil: "networkidle" });
  const button = page.getByRole("button", { name: "Acknowledge" });
  await expect(button).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("heading", { name: "shop" })).toBeVisible();
  expect(bytes, "everything that the page loads").toBeLessThan(40_000);
  expect(await statusOf(member.api, alertid), "opening the link changes nothing").toBe("open");
  expect(await horizontalOverflow(page)).toBe(0);
  await page.getByText("More", { exact: true }).click();
  for (const colorScheme of ["light", "dark"] as const) {
    await switchScheme(page, colorScheme);
    expect(await axeViolations(page), colorScheme).toEqual([]);
  }

  await button.press("Enter");
  await expect(page.getByRole("alert")).toHaveText("Enter your name.");
  await expect(page.getByLabel("Your name")).toBeFocused();
  await page.keyboard.type("Ann");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status")).toHaveText("Acknowledged by Ann.");
  await expect(button).toHaveCount(0);
  const { alert } = await member.api.get<{ alert: Alert }>(`alert/${alertid}/get`);
  expect(alert.acknowledged).toMatchObject({ name: "Ann", via: "link" });

  await member.api.report(alert.monitor.monitorid, "up");
  await page.reload();
  await expect(page.getByText("This alert is over. There is nothing left to do.")).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
  await visitor.close();
  hook.close();
});

test("an action link snoozes and resolves, in German, and an invalid one says so", async ({ browser, member, service }) => {
  const hook = await startHook();
  const { alertid, path } = await linked(member, hook);
  const visitor = await browser.newContext({ locale: "de-DE", reducedMotion: "reduce" });
  const page = await visitor.newPage();
  await page.goto(service.url + path);
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await page.getByLabel("Ihr Name").fill("Bernd");
  await page.getByText("Mehr", { exact: true }).click();
  await page.getByRole("button", { name: "Für 4 Stunden zurückstellen" }).click();
  await expect(page.getByRole("status")).toContainText("Zurückgestellt bis");
  // The name is remembered.
  await page.reload();
  await expect(page.getByLabel("Ihr Name")).toHaveValue("Bernd");
  await page.getByText("Mehr", { exact: true }).click();
  await page.getByRole("button", { name: "Erledigen" }).click();
  await expect(page.getByRole("status")).toHaveText("Jemand hat diesen Alarm erledigt.");
  expect(await statusOf(member.api, alertid)).toBe("resolved");
  await page.goto(`${service.url}/a/wkt_nonsense`);
  await expect(page.getByRole("heading", { name: "Dieser Link ist ungültig oder abgelaufen" })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await visitor.close();
  hook.close();
});
