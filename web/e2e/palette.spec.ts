/** The command palette: finds everything by keyboard, and a screen reader can follow it. */
import type { Page } from "@playwright/test";
import { axeViolations, openPage } from "./axe";
import { expect, test } from "./service";

const field = (page: Page) => page.getByRole("combobox", { name: /^Search monitors/ });
const options = (page: Page) => page.getByRole("listbox", { name: "Results" }).getByRole("option");

/** The option that the field points a screen reader to. */
async function current(page: Page) {
  const id = (await field(page).getAttribute("aria-activedescendant")) ?? "";
  return page.locator(`[id="${id}"]`);
}

test("Ctrl-K finds a monitor and opens it, and the focus moves to its page", async ({ page, member }) => {
  for (const name of ["shop", "shop api", "mail"]) await member.api.monitor({ name });
  await openPage(page, "/settings");
  await page.keyboard.press("Control+k");
  await expect(field(page)).toBeFocused();
  await page.keyboard.type("shop");
  await expect(options(page)).toHaveText(["shop", "shop api"]);
  await expect(await current(page)).toHaveText("shop");
  await page.keyboard.press("ArrowDown");
  await expect(await current(page)).toHaveText("shop api");
  await expect(await current(page)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowDown");
  await expect(await current(page)).toHaveText("shop");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("shop");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
});

test("it finds notifiers, settings and actions, and says when there is nothing", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await member.api.post("notifier/save", { name: "pager", type: "webhook", webhook: { url: "http://127.0.0.1:9/" } });
  await openPage(page, "/");
  const find = async (words: string) => {
    await page.keyboard.press("Control+k");
    await field(page).fill(words);
  };
  await find("page");
  await options(page).filter({ hasText: "pager" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("pager");
  await find("api keys");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/settings#api-keys$/);
  await expect(page.getByRole("heading", { name: "API keys" })).toBeInViewport();
  await find("dark");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
  await find("shortcuts");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText("Ctrl K");
  await page.keyboard.press("Escape");
  await find("zzzz");
  await expect(page.getByRole("dialog").getByRole("status")).toHaveText("Nothing found.");
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("it opens from the navigation, returns the focus, and stays closed over another dialog", async ({ page, member: _member }) => {
  await openPage(page, "/team");
  const button = page.getByRole("button", { name: "Search Ctrl K" });
  await button.click();
  await expect(field(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
  await page.getByRole("button", { name: "Add user" }).click();
  await expect(page.getByRole("dialog", { name: "Add a user" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toHaveCount(1);
  await expect(field(page)).toHaveCount(0);
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });
    test(`axe finds nothing in the palette, ${colorScheme}`, async ({ page, member }) => {
      await member.api.monitor({ name: "job" });
      await openPage(page, "/");
      await page.keyboard.press("Control+k");
      await expect(page.getByRole("dialog")).toHaveCSS("opacity", "1");
      await expect(options(page).first()).toBeVisible();
      expect(await axeViolations(page)).toEqual([]);
      await field(page).fill("zzzz");
      expect(await axeViolations(page), "no results").toEqual([]);
    });
  });
}
