/** The dashboard's keyboard shortcuts and selection. */
import type { Page } from "@playwright/test";
import { openPage } from "./axe";
import { expect, test } from "./service";

const current = (page: Page) => page.locator("li[data-row][data-current]");
const rows = (page: Page) => page.locator("li[data-row]");

test("a selection hidden by filters says so, and Escape clears it", async ({ page, member }) => {
  for (const name of ["one", "two"]) await member.api.monitor({ name });
  await openPage(page, "/");
  await page.getByLabel("Select one").check();
  await page.getByLabel("Select two").check();
  const bar = page.getByRole("toolbar", { name: "Selected monitors" });
  await expect(bar).toContainText("2 selected");
  await page.getByRole("searchbox").fill("two");
  await expect(bar).toContainText("2 selected (1 hidden by filters)");
  await page.getByRole("searchbox").fill("zzzz");
  await expect(bar).toContainText("2 selected (hidden by filters)");
  await page.getByRole("searchbox").press("Escape");
  await page.keyboard.press("Escape");
  await expect(bar).toHaveCount(0);
});

test("monitors that could not be changed stay selected", async ({ page, member }) => {
  const made = [];
  for (const name of ["one", "two"]) made.push(await member.api.monitor({ name }));
  await openPage(page, "/");
  for (const name of ["one", "two"]) await page.getByLabel(`Select ${name}`).check();
  const failing = (made[1] ?? { monitorid: "" }).monitorid;
  await page.route("**/api/v1/monitor/save", async (route) => {
    if (route.request().postData()?.includes(failing))
      await route.fulfill({ status: 503, json: { code: "unavailable", message: "Later." } });
    else await route.continue();
  });
  const bar = page.getByRole("toolbar", { name: "Selected monitors" });
  await bar.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText(/^1 could not be changed/)).toBeVisible();
  await expect(bar).toContainText("1 selected");
  await expect(page.getByLabel("Select two")).toBeChecked();
  await page.unroute("**/api/v1/monitor/save");
  await bar.getByRole("button", { name: "Pause" }).click();
  await expect(bar).toHaveCount(0);
  await expect(rows(page).and(page.locator("[data-state=paused]"))).toHaveCount(2);
});

test("one Escape closes the tag dialog", async ({ page, member }) => {
  await member.api.monitor({ name: "one", tags: "prod" });
  await openPage(page, "/");
  await page.getByLabel("Select one").check();
  await page.getByRole("button", { name: "Add tags" }).click();
  await expect(page.getByRole("dialog").getByLabel("Tags")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("toolbar", { name: "Selected monitors" })).toContainText("1 selected");
});

test("the keyboard cursor starts at the first visible row and is remembered", async ({ page, member }) => {
  const names = Array.from({ length: 40 }, (_, index) => `job ${String(index).padStart(2, "0")}`);
  for (const name of names) await member.api.monitor({ name });
  await openPage(page, "/?sort=name");
  await expect(rows(page).first()).toBeVisible();
  await page.mouse.wheel(0, 1000);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(800);
  await page.keyboard.press("j");
  await expect(current(page)).toHaveCount(1);
  await expect(current(page)).toBeInViewport();
  await expect(current(page)).not.toContainText("job 00");
  await page.keyboard.press("j");
  const name = (await current(page).getByRole("link").textContent()) ?? "";
  await expect(current(page).getByRole("link")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  await page.goBack();
  await expect(current(page)).toContainText(name);
});

test("the search key works on every page, and the navigation shows the current section", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await openPage(page, `/monitor/${monitorid}`);
  const monitors = page.getByRole("navigation").getByRole("link", { name: "Monitors" });
  await expect(monitors).toHaveAttribute("aria-current", "true");
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await expect(monitors).toHaveAttribute("aria-current", "page");
});

test("the headings of all pages are aligned", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await page.setViewportSize({ width: 1600, height: 900 });
  const edges = new Set<number>();
  for (const path of ["/", `/monitor/${monitorid}`, "/alerts", "/team", "/settings", "/monitor/new"]) {
    await openPage(page, path);
    edges.add(Math.round((await page.getByRole("heading", { level: 1 }).boundingBox())?.x ?? 0));
  }
  expect([...edges]).toHaveLength(1);
});
