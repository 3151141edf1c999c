/** Checks that apply to every page: accessibility by axe, loaded content, no horizontal scrolling. */
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect } from "./service";

export async function openPage(page: Page, path: string) {
  await page.goto(path);
  await expect(page.locator("main").or(page.getByText("Page not found")).first()).toBeVisible();
  await expect(page.getByText("Loading…")).toHaveCount(0);
}

export async function axeViolations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map((node) => node.html)
        .join(" ")
        .slice(0, 400)}`,
  );
}

/** By how many pixels the page is wider than its window. */
export function horizontalOverflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}
