import { startHook } from "./receiver";
import { chooseKind, expect, PASSWORD, test } from "./service";

test("from sign-up to the first alert: monitor, notifier, outage, notification, recovery", async ({ page, service }) => {
  test.setTimeout(120_000);
  const hook = await startHook();
  service.target.status = 200;
  await page.goto("/signup");
  await page.getByLabel("Email").fill(`story${process.pid}.${test.info().repeatEachIndex}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();

  await page.getByLabel("URL").fill(service.target.url);
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("button", { name: "Start monitoring" }).click();
  await expect(page.getByRole("heading", { name: "Who should be notified?" })).toBeVisible();
  await page.getByRole("button", { name: "Skip for now" }).click();
  await expect(page).toHaveURL(/\/monitor\/[^/]+$/);
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  const monitor = page.url();
  const name = service.target.url.replace("http://", "");

  await page.getByRole("link", { name: "Notifiers", exact: true }).click();
  await page.getByRole("main").getByRole("link", { name: "New notifier" }).click();
  await chooseKind(page, "Webhook");
  await page.getByLabel("Webhook URL").fill(hook.url);
  await page.getByLabel("Name", { exact: true }).fill("pager");
  await page.getByRole("button", { name: "Create notifier" }).click();
  await page.getByRole("button", { name: "I’ve saved it" }).click();

  await page.goto(`${monitor}/edit`);
  await page.getByLabel("pager").check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);

  service.target.status = 503;
  await page.getByRole("button", { name: "Check now" }).click();
  // A retry confirms it five seconds later, without a reload.
  await expect(page.getByText("Down", { exact: true })).toBeVisible({ timeout: 30_000 });
  const alert = page.getByRole("listitem").filter({ hasText: "Open" });
  await expect(alert).toContainText("503");
  await expect(alert).toContainText("pager: outage delivered", { timeout: 30_000 });
  const events = hook.bodies.map((body) => JSON.parse(body) as { type: string; data: { monitor: { name: string }; message: string } });
  expect(events.map(({ type, data }) => [type, data.monitor.name])).toEqual([["monitor.down", name]]);
  expect(events[0]?.data.message).toContain("503");

  await page.goto("/");
  await expect(page).toHaveTitle("(1) Monitors · Wakeful");
  await page.goto("/alerts");
  await expect(page.getByRole("listitem").filter({ hasText: name }).first()).toContainText("pager: outage delivered");

  await page.goto(monitor);
  service.target.status = 200;
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  await expect.poll(() => hook.bodies.some((body) => body.includes("monitor.up"))).toBe(true);
  hook.close();
});

test("from the first monitor to the first notification in six clicks", async ({ page, member, service }) => {
  const hook = await startHook();
  let clicks = 0;
  const click = async (name: string) => {
    clicks++;
    await page.getByRole("button", { name, exact: true }).click();
  };
  await page.goto("/");
  await page.getByLabel("URL").fill(service.target.url);
  await click("Check");
  await click("Start monitoring");
  await click("Webhook");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Webhook URL").fill(hook.url);
  await click("Send test");
  await expect(dialog.getByRole("status")).toContainText("Test delivered");
  await click("Create notifier");
  await click("I’ve saved it");
  await expect(page).toHaveURL(/\/monitor\/[^/]+$/);
  expect(clicks).toBe(6);
  expect(hook.bodies.join()).toContain("notifier.test");
  const { monitors } = await member.api.get<{ monitors: { notifiers: object[] }[] }>("monitors");
  expect(monitors.map(({ notifiers }) => notifiers.length)).toEqual([1]);
  // The first notifier is the default for the next monitors.
  await page.goto("/monitor/new");
  await expect(page.getByRole("group", { name: "Notify" }).getByRole("checkbox")).toBeChecked();
  hook.close();
});
