import type { Page } from "@playwright/test";
import { axeViolations, openPage, horizontalOverflow, switchScheme } from "./axe";
import { expect, test } from "./service";

test.use({ settings: { WAKEFUL_BILLING_ENABLED: "true", WAKEFUL_BILLING_LIMITS: "true" } });

async function fillCard(page: Page, number: string, expiry = "04 / 39") {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Card number").fill(number);
  await dialog.getByLabel("Expires").fill(expiry);
  await dialog.getByLabel("Security code").fill("012");
  await dialog.getByLabel("Name on the card").fill("Ann Example");
  await dialog.getByLabel("ZIP code").fill("12345");
}

const held = (page: Page) => page.getByRole("region", { name: "Current plan" });

test("subscribe with a new card, switch with the saved one, cancel, and keep the plan", async ({ page, member: _member }) => {
  await page.getByRole("link", { name: "Billing" }).click();
  await expect(held(page)).toContainText("Free");
  await expect(page.getByText("No charges yet.")).toBeVisible();

  await page.getByRole("button", { name: "Choose Starter" }).click();
  await fillCard(page, "4242424242424242");
  await expect(page.getByLabel("Card number")).toHaveValue("4242 4242 4242 4242");
  await page.getByRole("button", { name: /^Pay .*9/ }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  // A formatted date, not an ISO timestamp.
  const toast = page.getByRole("status").filter({ hasText: "You’re on" });
  await expect(toast).toContainText(/You’re on Starter, paid until \d+ \w+ \d{4}\./);
  await toast.getByRole("button", { name: "Dismiss" }).click();
  await expect(toast).toHaveCount(0);
  await expect(held(page)).toContainText("Starter");
  await expect(held(page)).toContainText("Active");
  await expect(held(page)).toContainText("•••• 4242");
  await expect(page.getByRole("row").filter({ hasText: "Starter" })).toContainText("Paid");

  await page.getByRole("button", { name: "Choose Pro" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: "Switch to Pro" })).toBeVisible();
  await expect(dialog.getByRole("radio", { name: /4242/ })).toBeChecked();
  // The first plan was paid a moment ago, so all of it is credited.
  const amounts = await dialog.locator("dd").allInnerTexts();
  const [price = 0, credit = 0, charge = 0] = amounts.map((text) => Number(text.replace(/[^\d.]/g, "")));
  expect(credit).toBeGreaterThan(0);
  expect(charge).toBeCloseTo(price - credit, 2);
  await expect(dialog.getByRole("button", { name: "Not now" })).toBeVisible();
  await dialog.getByRole("button", { name: `Pay ${amounts[2] ?? ""}` }).click();
  await expect(held(page)).toContainText("Pro");

  await page.getByRole("button", { name: "Cancel plan" }).click();
  await dialog.getByRole("button", { name: "Cancel plan" }).click();
  await expect(page.getByText(/^Pro canceled\. It stays active until \d+ \w+ \d{4}\.$/)).toBeVisible();
  await expect(held(page)).toContainText("Canceled");
  await expect(held(page)).toContainText("Active until");
  await page.getByRole("button", { name: "Choose Pro" }).click();
  await dialog.getByRole("button", { name: "Keep plan" }).click();
  await expect(held(page)).toContainText("Active");
});

test("in German, a payment and its refusal are shown in German", async ({ page, member: _member }) => {
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  await page.goto("/billing");
  await page.getByRole("button", { name: "Starter auswählen" }).click();
  const dialog = page.getByRole("dialog");
  for (const number of ["4000000000000002", "4242424242424242"]) {
    await dialog.getByLabel("Kartennummer").fill(number);
    await dialog.getByLabel("Gültig bis").fill("04 / 39");
    await dialog.getByLabel("Prüfziffer").fill("012");
    await dialog.getByLabel("Name auf der Karte").fill("Ann Example");
    await dialog.getByLabel("Postleitzahl").fill("12345");
    await dialog.getByRole("button", { name: /zahlen$/ }).click();
    if (number.startsWith("4000")) await expect(dialog.getByRole("alert")).toContainText("Die Karte wurde abgelehnt.");
  }
  await expect(page.getByText(/^Sie nutzen jetzt Starter, bezahlt bis \d+\.\d+\.\d{4}\.$/)).toBeVisible();
});

test("a declined card changes nothing, and invalid fields show their errors", async ({ page, member: _member }) => {
  await page.goto("/billing");
  await page.getByRole("button", { name: "Choose Starter" }).click();
  await fillCard(page, "4000000000000002");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByRole("alert")).toContainText(/declined/i);
  await fillCard(page, "4242424242424241", "04 / 20");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByLabel("Card number")).toHaveAttribute("aria-invalid", "true");
  await expect(dialog.getByLabel("Expires")).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Expires").fill("soon");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByText("Month and year, such as 04 / 29.")).toBeVisible();
  await dialog.getByRole("button", { name: "Not now" }).click();
  await expect(held(page)).toContainText("Free");
});

test("cards: add, set as default, remove with a warning if the card pays for the plan", async ({ page, member: _member }) => {
  await page.goto("/billing");
  for (const number of ["4242424242424242", "5555555555554444"]) {
    await page.getByRole("button", { name: "Add card" }).click();
    await fillCard(page, number);
    await page.getByRole("dialog").getByRole("button", { name: "Add card" }).click();
    await expect(page.getByRole("dialog")).toBeHidden();
  }
  const card = (last4: string) => page.getByRole("listitem").filter({ hasText: `•••• ${last4}` });
  await expect(card("4242")).toContainText("Default");
  await page.getByRole("button", { name: "Actions for the card ending in 4444" }).click();
  await page.getByRole("menuitem", { name: "Set as default" }).click();
  await expect(card("4444")).toContainText("Default");
  await expect(card("4242")).not.toContainText("Default");

  await page.getByRole("button", { name: "Choose Starter" }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^Pay/ }).click();
  await expect(held(page)).toContainText("•••• 4444");
  for (const [last4, words] of [
    ["4242", "removed here and at the payment processor"],
    ["4444", "pays for Starter"],
  ] as const) {
    await page.getByRole("button", { name: `Actions for the card ending in ${last4}` }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await expect(page.getByRole("dialog")).toContainText(words);
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await expect(card(last4)).toHaveCount(0);
  }
  await expect(page.getByText("No cards yet.")).toBeVisible();
});

test("the usage is shown against the limits of the plan", async ({ page, member }) => {
  for (const name of ["one", "two"]) await member.api.monitor({ name });
  const { usage } = await member.api.get<{ usage: { monitors: number; limit: number } }>("membership/get");
  expect(usage.monitors).toBe(2);
  await page.goto("/billing");
  await expect(held(page)).toContainText(`Active monitors2 of ${usage.limit}`);
});

test("a plan limit is shown in the form that exceeds it", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill("http://127.0.0.1:9/");
  await page.getByRole("button", { name: "10 s", exact: true }).click();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("alert")).toContainText("intervals of 1 min or more");
});

test("axe finds nothing on plans, cards and invoices, and nothing overflows on a phone", async ({ page, member }) => {
  const card = { cardholderName: "Ann", cardNumber: "4242424242424242", expiryMonth: 4, expiryYear: 2039, cvc: "012", zipCode: "1" };
  await member.api.post("membership/save", { plan: "pro", method: "new", ...card });
  for (const colorScheme of ["light", "dark"] as const) {
    await switchScheme(page, colorScheme);
    await openPage(page, "/billing");
    expect(await axeViolations(page), colorScheme).toEqual([]);
    await page.getByRole("button", { name: "Choose Business" }).click();
    await page.getByRole("radio", { name: "Use another card" }).check();
    expect(await axeViolations(page), `paying, ${colorScheme}`).toEqual([]);
  }
  await page.setViewportSize({ width: 375, height: 720 });
  await openPage(page, "/billing");
  expect(await horizontalOverflow(page)).toBeLessThanOrEqual(0);
  await openPage(page, "/settings");
  await page.getByRole("link", { name: "See plans" }).click();
  await expect(held(page)).toContainText("Pro");
});

test("no word of the facts is broken at any width", async ({ page, member: _member }) => {
  await page.goto("/billing");
  await expect(page.getByText("Payment method", { exact: true })).toBeVisible();
  for (const width of [320, 390, 721, 834, 1024, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    const broken = await page.locator("main dt").evaluateAll((all) =>
      all
        .filter((label) => {
          const lines = Math.round(label.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(label).lineHeight));
          return lines > label.textContent.split(" ").length;
        })
        .map((label) => label.textContent),
    );
    expect(broken, `${width} px`).toEqual([]);
  }
});
