import type { Page } from "@playwright/test";
import { expect, test } from "./service";

const row = "li[data-row]";

/** As when another tab is brought to the front, or this one; the test's browser calls every tab visible. */
function turn(page: Page, hidden: boolean) {
  return page.evaluate((to) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => to });
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (to ? "hidden" : "visible") });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

test("eight tabs of one browser: each opens, and the first is true again when it is seen again", async ({ page, context, member }) => {
  test.setTimeout(120_000);
  const { monitorid } = await member.api.monitor({ name: "job" });
  await page.goto("/");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  let last = page;
  for (let tab = 2; tab <= 8; tab++) {
    await turn(last, true);
    last = await context.newPage();
    // A browser has six connections to a host, and a tab that is seen holds one.
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

test("a connection that was refused is made again, and what was missed is shown", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "job" });
  let refusals = 0;
  await page.route("**/api/v1/events", (route) => (refusals++ < 2 ? route.fulfill({ status: 503, body: "" }) : route.continue()));
  await page.goto("/");
  await expect(page.locator(row)).toHaveAttribute("data-state", "pending");
  await member.api.report(monitorid, "down");
  // Refused twice, so within seven seconds; the list by itself is read after fifteen.
  await expect(page.getByText("Live", { exact: true })).toBeVisible({ timeout: 12_000 });
  expect(refusals).toBe(3);
  await expect(page.locator(row)).toHaveAttribute("data-state", "down");
});
