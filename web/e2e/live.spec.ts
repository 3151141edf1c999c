import type { Page } from "@playwright/test";
import { expect, test } from "./service";

const row = "[data-row]";

/** Simulates switching tabs; the test browser reports every tab as visible. */
function turn(page: Page, hidden: boolean) {
  return page.evaluate((to) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => to });
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (to ? "hidden" : "visible") });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

test("eight tabs of one browser: each loads, and the first is current when it is visible again", async ({ page, context, member }) => {
  test.setTimeout(120_000);
  const { monitorid } = await member.api.monitor({ name: "job" });
  await page.goto("/");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  let last = page;
  for (let tab = 2; tab <= 8; tab++) {
    await turn(last, true);
    last = await context.newPage();
    // A browser has six connections per host, and a visible tab uses one.
    await last.goto("/");
    await expect(last.locator(row), `tab ${tab}`).toHaveCount(1);
    await expect(last.getByText("Live", { exact: true }), `tab ${tab}`).toBeVisible();
  }
  await expect(page.getByText("Live", { exact: true })).toBeHidden();
  await member.api.report(monitorid, "down");
  await expect(last.locator(row)).toHaveAttribute("data-state", "down");
  await expect(page.locator(row)).toHaveAttribute("data-state", "pending");
  await turn(last, true);
  await turn(page, false);
  await expect(page.locator(row)).toHaveAttribute("data-state", "down");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
});

test("a refused connection is retried, and missed events are shown", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "job" });
  let refusals = 0;
  await page.route("**/api/v1/events?*", (route) => (refusals++ < 2 ? route.fulfill({ status: 503, body: "" }) : route.continue()));
  await page.goto("/");
  await expect(page.locator(row)).toHaveAttribute("data-state", "pending");
  await member.api.report(monitorid, "down");
  // Refused twice, so within seven seconds; polling would take fifteen.
  await expect(page.getByText("Live", { exact: true })).toBeVisible({ timeout: 12_000 });
  expect(refusals).toBe(3);
  await expect(page.locator(row)).toHaveAttribute("data-state", "down");
});

test("what happens before the first connection is open is shown", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "job" });
  let open: () => void = () => undefined;
  const mayOpen = new Promise<void>((resolve) => (open = resolve));
  await page.route("**/api/v1/events?*", async (route) => {
    await mayOpen;
    await route.continue();
  });
  await page.goto("/");
  await expect(page.locator(row)).toHaveAttribute("data-state", "pending");
  await member.api.report(monitorid, "down");
  open();
  // Polling stops once the connection is open, and the job reports nothing more.
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await expect(page.locator(row)).toHaveAttribute("data-state", "down");
});
