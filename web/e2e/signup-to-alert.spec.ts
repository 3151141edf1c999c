import { startHook } from "./receiver";
import { choose, expect, PASSWORD, test } from "./service";

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
  await expect(page).toHaveURL(/\/monitor\//);
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  const monitor = page.url();
  const name = service.target.url.replace("http://", "");

  await page.getByRole("link", { name: "Notifiers" }).click();
  await page.getByRole("main").getByRole("link", { name: "New notifier" }).click();
  await choose(page, "Webhook");
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
  const alert = page.getByRole("listitem").filter({ hasText: "Ongoing" });
  await expect(alert).toContainText("503");
  await expect(alert).toContainText("pager: delivered", { timeout: 30_000 });
  const events = hook.bodies.map((body) => JSON.parse(body) as { type: string; data: { monitor: { name: string }; message: string } });
  expect(events.map(({ type, data }) => [type, data.monitor.name])).toEqual([["monitor.down", name]]);
  expect(events[0]?.data.message).toContain("503");

  await page.goto("/");
  await expect(page).toHaveTitle("(1) Monitors · Wakeful");
  await page.goto("/alerts");
  await expect(page.getByRole("listitem").filter({ hasText: name }).first()).toContainText("pager: delivered");

  await page.goto(monitor);
  service.target.status = 200;
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  await expect.poll(() => hook.bodies.some((body) => body.includes("monitor.up"))).toBe(true);
  hook.close();
});
