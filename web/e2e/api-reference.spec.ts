/** The API reference at /api/docs. */
import { axeViolations, COLOR_RULES, horizontalOverflow } from "./axe";
import { expect, test } from "./service";

test("axe finds nothing in the API reference, with a call open, in both schemes and on a phone", async ({ page }) => {
  test.setTimeout(120_000);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await page.goto("/api/docs/#post_monitor_save");
    await expect(page.getByRole("heading", { name: "Request body" })).toBeVisible();
    for (const [colorScheme, rules] of [
      ["light", undefined],
      ["dark", COLOR_RULES],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator("html")).toHaveAttribute("data-scheme", colorScheme);
      expect(await axeViolations(page, rules), `${width} px, ${colorScheme}`).toEqual([]);
    }
    expect(await horizontalOverflow(page)).toBeLessThanOrEqual(0);
  }
});

test("the API reference describes a call, and has an example to copy", async ({ page }) => {
  await page.goto("/api/docs/");
  const call = page.locator("#get_monitor_heartbeats");
  await page.getByRole("navigation", { name: "Calls" }).getByRole("link", { name: "GET monitor/{monitorid}/heartbeats" }).click();
  await expect(call.locator("summary")).toBeFocused();
  for (const name of ["Parameters", "Example", "Response 200", "Errors"]) {
    await expect(call.getByRole("heading", { name, exact: true })).toBeVisible();
  }
  const example = call.getByRole("group", { name: "example request" });
  await expect(example).toContainText("/api/v1/monitor/$monitorid/heartbeats");
  await expect(example).toContainText("Authorization: Bearer $TOKEN");
  await expect(call.getByText("required").first()).toBeVisible();
  await expect(call.getByRole("group", { name: "example response" })).toContainText('"heartbeats"');
});

test("calls are found by their words, with the keyboard alone", async ({ page }) => {
  await page.goto("/api/docs/");
  const calls = page.locator("details.operation");
  await expect(calls.first()).toBeVisible();
  const all = await calls.count();
  await page.keyboard.press("/");
  await page.keyboard.type("membership/preview");
  await expect(page.getByRole("status")).toHaveText(`1 of ${all} calls`);
  await expect(calls.filter({ visible: true })).toHaveCount(1);
  await page.keyboard.press("Tab");
  while (!(await page.locator(":focus").evaluate((node) => node.tagName === "SUMMARY"))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Request body" })).toBeVisible();
});

test("every call can be opened", async ({ page }) => {
  await page.goto("/api/docs/");
  const calls = page.locator("details.operation");
  await expect(calls.first()).toBeVisible();
  const opened = await calls.evaluateAll(async (all) => {
    for (const call of all) (call as HTMLDetailsElement).open = true;
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return all.filter((call) => call.querySelector("pre") === null).map(({ id }) => id);
  });
  expect(opened).toEqual([]);
});
