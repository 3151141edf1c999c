/** The dashboard's keys and its selection. */
import type { Page } from "@playwright/test";
import { settled } from "./axe";
import { expect, test } from "./service";

const current = (page: Page) => page.locator("li[data-row][data-current]");
const rows = (page: Page) => page.locator("li[data-row]");

test("a selection that the filters hide says so, and Escape drops it", async ({ page, member }) => {
  for (const name of ["one", "two"]) await member.api.monitor({ name });
  await settled(page, "/");
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

test("what could not be changed stays selected, to be tried again", async ({ page, member }) => {
  const made = [];
  for (const name of ["one", "two"]) made.push(await member.api.monitor({ name }));
  await settled(page, "/");
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

test("one Escape leaves the dialog for tags", async ({ page, member }) => {
  await member.api.monitor({ name: "one", tags: "prod" });
  await settled(page, "/");
  await page.getByLabel("Select one").check();
  await page.getByRole("button", { name: "Add tags" }).click();
  await expect(page.getByRole("dialog").getByLabel("Tags")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("toolbar", { name: "Selected monitors" })).toContainText("1 selected");
});

test("the keys begin with what is in sight, and remember their place", async ({ page, member }) => {
  const names = Array.from({ length: 40 }, (_, index) => `job ${String(index).padStart(2, "0")}`);
  for (const name of names) await member.api.monitor({ name });
  await settled(page, "/?sort=name");
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

test("the key for the search works on every view, and its section is lit", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await settled(page, `/monitor/${monitorid}`);
  const monitors = page.getByRole("navigation").getByRole("link", { name: "Monitors" });
  await expect(monitors).toHaveAttribute("aria-current", "true");
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await expect(monitors).toHaveAttribute("aria-current", "page");
});

test("every heading begins at the same place", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await page.setViewportSize({ width: 1600, height: 900 });
  const edges = new Set<number>();
  for (const path of ["/", `/monitor/${monitorid}`, "/alerts", "/team", "/settings", "/monitor/new"]) {
    await settled(page, path);
    edges.add(Math.round((await page.getByRole("heading", { level: 1 }).boundingBox())?.x ?? 0));
  }
  expect([...edges]).toHaveLength(1);
});
