/** Checks that apply to every page: accessibility by axe, loaded content, no horizontal scrolling. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import type { AxeResults } from "axe-core";
import { expect } from "./service";

export async function openPage(page: Page, path: string) {
  await page.goto(path);
  await expect(page.getByRole("main").first()).toBeVisible();
  await expect(page.getByText(/^(Loading…|Wird geladen …)$/)).toHaveCount(0);
}

/** What moves or fades in passes through the colors in between, even if it is short; an inherited color may start another. */
async function settleColors() {
  for (let round = 0; round < 5; round++) {
    document
      .getAnimations()
      .filter((animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime))
      .forEach((animation) => animation.finish());
    await new Promise(requestAnimationFrame);
  }
}

/** Switches the browser's color scheme and waits until the page has its colors. */
export async function switchScheme(page: Page, colorScheme: "light" | "dark") {
  await page.emulateMedia({ colorScheme });
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
  await page.evaluate(settleColors);
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules whose result depends on colors. */
export const COLOR_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];

/** The violations of all rules, WCAG 2.2 AA and best practices, or only of the given ones. */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(settleColors);
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate((only) => {
    const { run } = (window as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }).axe;
    return run({ resultTypes: ["violations"], ...(only && { runOnly: { type: "rule", values: [...only] } }) });
  }, rules);
  return violations.map(({ id, nodes }) => {
    const html = nodes.map((node) => node.html).join(" ");
    return `${id}: ${html.slice(0, 400)}\n${nodes[0]?.failureSummary ?? ""}`;
  });
}

/** By how many pixels the page is wider than its window. */
export function horizontalOverflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/** Axe finds nothing in either color scheme, which differ only in colors, and a phone need not scroll sideways. */
export async function expectAccessible(page: Page) {
  for (const [colorScheme, rules] of [
    ["light", undefined],
    ["dark", COLOR_RULES],
  ] as const) {
    await switchScheme(page, colorScheme);
    expect(await axeViolations(page, rules), colorScheme).toEqual([]);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await horizontalOverflow(page)).toBeLessThanOrEqual(0);
  if (size) await page.setViewportSize(size);
}
