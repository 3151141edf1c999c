/**
 * axe on every page and state, in both languages and color schemes, on a phone and a desktop. No page needs to scroll sideways
 * on a phone, and none violates the content security policy, which would be an error in the console.
 */
import type { Page } from "@playwright/test";
import { axeViolations, COLOR_RULES, horizontalOverflow, openPage, switchScheme } from "./axe";
import { createSampleData } from "./sample-data";
import { expect, test } from "./service";

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 375, height: 720 };

/**
 * All rules at each width; in the dark scheme, where only colors differ, the rules about those.
 * Another language changes only texts, so one run is enough for it.
 */
async function expectAccessible(page: Page, name: string, language = "en") {
  const runs =
    language === "en"
      ? ([
          [PHONE, "light"],
          [DESKTOP, "light"],
          [DESKTOP, "dark"],
        ] as const)
      : ([[PHONE, "light"]] as const);
  for (const [size, colorScheme] of runs) {
    await page.setViewportSize(size);
    await switchScheme(page, colorScheme);
    const rules = colorScheme === "dark" ? COLOR_RULES : undefined;
    expect.soft(await axeViolations(page, rules), `${name}, ${size.width} px, ${colorScheme}`).toEqual([]);
    if (size === PHONE) expect.soft(await horizontalOverflow(page), `${name} scrolls horizontally`).toBeLessThanOrEqual(0);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

for (const language of ["en", "de"]) {
  test.describe(language, () => {
    test(`axe finds nothing before login, ${language}`, async ({ page }) => {
      test.setTimeout(180_000);
      await page.addInitScript((chosen) => localStorage.setItem("wakeful.language", chosen), language);
      for (const path of [
        "/login",
        "/signup",
        "/lost",
        "/password",
        "/password#tokenid=x",
        "/verify",
        "/verify#token=x",
        "/join",
        "/join#token=x",
        "/contact",
      ]) {
        await openPage(page, path);
        await expect(page.locator("html")).toHaveAttribute("lang", language);
        await expectAccessible(page, path, language);
      }
    });

    test(`axe finds nothing after login, ${language}`, async ({ page, member }) => {
      test.setTimeout(600_000);
      await page.evaluate((chosen) => localStorage.setItem("wakeful.language", chosen), language);
      await openPage(page, "/");
      await expectAccessible(page, "the empty team", language);
      const pages = await createSampleData(member);
      for (const path of [...pages, "/monitor/01997b1e-0000-7000-8000-000000000000", "/?q=nothing"]) {
        await openPage(page, path);
        await expect(page.locator("html")).toHaveAttribute("lang", language);
        await expectAccessible(page, path, language);
      }
    });

    test(`axe finds nothing on pages that cannot be loaded, ${language}`, async ({ page, member: _member }) => {
      test.setTimeout(180_000);
      await page.evaluate((chosen) => localStorage.setItem("wakeful.language", chosen), language);
      await page.route(/\/api\/v1\/(monitors|alerts|notifiers|team)/, (route) => route.fulfill({ status: 503, body: "" }));
      for (const path of ["/", "/alerts", "/notifiers", "/team"]) {
        await page.goto(path);
        await expect(page.getByRole("alert").first()).toBeVisible({ timeout: 20_000 });
        await expectAccessible(page, path, language);
      }
      await page.route("**/api/v1/session", (route) => route.abort());
      await page.goto("/");
      await expect(page.getByRole("alert")).toBeVisible({ timeout: 20_000 });
      await expectAccessible(page, "the server is away", language);
    });
  });
}

test("axe finds nothing in the menu and the shortcuts", async ({ page, member: _member }) => {
  await page.getByRole("button", { name: /Account menu/ }).click();
  await expect(page.getByRole("menuitem", { name: "Dark" })).toBeVisible();
  await expectAccessible(page, "the menu");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectAccessible(page, "the shortcuts");
});
