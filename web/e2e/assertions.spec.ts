/** Conditions on the result of a check: in the form, in an outage with its evidence, and in a degraded monitor. */
import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "./axe";
import { expect, test } from "./service";

const row = "[data-row]";
const panel = (page: Page, title: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
const condition = (page: Page, number: number) => page.getByRole("listitem", { name: `Condition ${number}`, exact: true });

async function choose(within: Locator, field: string, option: string) {
  await within.getByRole("textbox", { name: field }).click();
  await within.page().getByRole("option", { name: option, exact: true }).click();
}

/** A response of several times the part that evidence contains. */
function queue(depth: number) {
  const items = Array.from({ length: 300 }, (_, id) => ({ id, name: `job number ${id}`, done: true }));
  return { status: "ok", queue: { depth, "oldest job": null }, token: "s3cret", items };
}

const less = (target: number, fails_as: "down" | "degraded") => ({
  source: "json",
  property: "$.queue.depth",
  comparison: "less_than",
  target,
  fails_as,
});

test("a test shows each condition with the value found, and fields of a long response become conditions", async ({
  page,
  member: _member,
  service,
}) => {
  service.target.json = queue(7);
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByRole("button", { name: "Run the check now" }).click();
  const seen = page.locator("details").filter({ hasText: "Add a condition from this response" });
  await expect(page.getByRole("status").getByText("Up", { exact: true })).toBeVisible();
  await seen.locator("summary").press("Enter");
  // Credentials are not offered, and the items are those of the beginning.
  await expect(seen.getByRole("button", { name: /^\$\.token/ })).toHaveCount(0);
  await expect(seen.getByRole("button", { name: "$.items[2].name: job number 2" })).toBeVisible();
  await expect(seen.getByRole("button", { name: /^\$\.items\[3\]/ })).toHaveCount(0);
  await seen.getByRole("button", { name: "$.queue.depth: 7" }).press("Enter");
  await seen.getByRole("button", { name: "content-type: application/json" }).press("Enter");
  await expect(condition(page, 1).getByRole("textbox", { name: "What is compared" })).toHaveValue("JSON field");
  await expect(condition(page, 1).getByRole("textbox", { name: "Which part" })).toHaveValue("$.queue.depth");
  await expect(condition(page, 1).getByRole("textbox", { name: "Expected value" })).toHaveValue("7");
  await expect(condition(page, 2).getByRole("textbox", { name: "Which part" })).toHaveValue("content-type");
  await page.getByRole("button", { name: "Add condition" }).click();
  await condition(page, 3).getByRole("textbox", { name: "Expected value" }).fill("201");
  await choose(condition(page, 3), "What a failure means", "otherwise a warning");
  await page.getByRole("button", { name: "Add condition" }).click();
  await choose(condition(page, 4), "What is compared", "Page size (bytes)");
  await condition(page, 4).getByRole("textbox", { name: "Expected value" }).fill("100");

  await page.getByRole("button", { name: "Run the check again" }).click();
  const results = page.getByRole("list", { name: "Result of each condition" }).getByRole("listitem");
  await expect(results).toHaveText([
    "Holds. JSON field $.queue.depth: 7",
    "Holds. Header content-type: application/json",
    "Warning. status is 200, expected 201",
    /^Failed\. body_size is \d{5}, expected less than 100$/,
  ]);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove condition 4" }).press("Enter");
  await page.getByRole("button", { name: "Run the check again" }).click();
  await expect(results).toHaveCount(3);
  await expect(page.getByRole("status").getByText("Degraded", { exact: true })).toBeVisible();

  // What the service refuses is shown at the row.
  await condition(page, 1).getByRole("textbox", { name: "Which part" }).fill("$..a..b");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(condition(page, 1).getByRole("textbox", { name: "Which part" })).toBeFocused();
  await expect(condition(page, 1).getByRole("textbox", { name: "Which part" })).toHaveAttribute("aria-invalid", "true");
  await condition(page, 1).getByRole("textbox", { name: "Which part" }).fill("$.queue.depth");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(new URL(service.target.url).host);
});

test("a failing condition leads to an alert, whose page shows the evidence", async ({ page, member: { api }, service }) => {
  service.target.json = queue(7);
  const shop = { type: "http", name: "shop", http: { url: service.target.url }, heartbeat_interval: 1, retries: 0 };
  const { monitorid } = await api.monitor({ ...shop, assertions: [less(10, "down")] });
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  await expect(panel(page, "Latest evidence")).toHaveCount(0);
  service.target.json = queue(1834);
  const message = "json $.queue.depth is 1834, expected less than 10";
  await expect(page.getByText(`A condition failed: ${message}`)).toContainText(/^Down since [\d:]+\. /);
  const latest = panel(page, "Latest evidence");
  await expect(latest.getByRole("list", { name: "Conditions" })).toHaveText(message);
  await expect(latest.getByLabel("Response")).toContainText('"depth":1834');
  await expect(latest.getByLabel("Response")).not.toContainText("s3cret");
  await expectAccessible(page);

  await page.getByRole("link", { name: "Alert and evidence" }).press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Alert for shop");
  const evidence = panel(page, "What the checks saw");
  await expect(evidence.getByText("A condition failed")).toBeVisible();
  await expect(evidence.getByRole("list", { name: "Conditions" })).toHaveText(message);
  await expect(evidence.getByLabel("Request")).toContainText(`GET ${service.target.url}`);
  await expect(evidence.getByLabel("Response").locator("mark").first()).toHaveText("[redacted]");
  await expectAccessible(page);
  const summary = evidence.locator("summary").first();
  await summary.press("Enter");
  await expect(evidence.getByLabel("Response")).toBeHidden();

  service.target.json = queue(7);
  await expect(page.getByText("Over", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "shop", exact: true }).press("Enter");
  await expect(latest.getByText("Recovery")).toBeVisible();
  await expect(latest.getByLabel("Response")).toBeHidden();
  await expect(page.getByText(/^Down since/)).toHaveCount(0);
});

test("a degraded monitor is shown as such, live, with its reason and its alert", async ({ page, member: { api }, service }) => {
  service.target.json = queue(7);
  const slow = { type: "http", name: "shop", http: { url: service.target.url }, heartbeat_interval: 1, retries: 0 };
  const { monitorid } = await api.monitor({ ...slow, assertions: [less(10, "degraded")], degraded: { over: 1, of: 1 } });
  await page.goto("/");
  const shown = page.locator(row).filter({ hasText: "shop" });
  await expect(shown).toHaveAttribute("data-state", "up");
  service.target.json = queue(1834);
  await expect(shown).toHaveAttribute("data-state", "degraded");
  await expect(page.getByRole("group", { name: "Filter by status" }).getByRole("button", { name: /Degraded/ })).toContainText("1");
  await expectAccessible(page);

  service.target.json = queue(7);
  await expect(shown).toHaveAttribute("data-state", "up");
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  service.target.json = queue(1834);
  await expect(page.getByText("Degraded", { exact: true }).first()).toBeVisible();
  const line = page.getByText(/A condition failed: json \$\.queue\.depth is not less than 10$/);
  await expect(line).toContainText(/^Up, but degraded since [\d:]+\. /);
  await expect(page.getByText("Degraded for")).toBeVisible();
  await expect(panel(page, "Latest evidence").getByText(/^json \$\.queue\.depth is 1834/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Alert and evidence" }).press("Enter");
  await expect(panel(page, "What the checks saw").getByLabel("Response")).toContainText('"depth":1834');
  await expectAccessible(page);
  await page.goBack();

  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  await page.reload();
  await expect(page.getByText(/^In Ordnung, aber beeinträchtigt seit [\d:]+\. Eine Bedingung ist nicht erfüllt: /)).toBeVisible();
  service.target.json = queue(7);
  await expect(page.getByText("In Ordnung seit")).toBeVisible();
  await expect(page.getByText(/^In Ordnung, aber/)).toHaveCount(0);
});
