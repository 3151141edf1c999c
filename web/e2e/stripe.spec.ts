import type { Page } from "@playwright/test";
import { axeViolations, openPage, horizontalOverflow, switchScheme } from "./axe";
import { expect } from "./service";
import { SCRIPT, standIn, test } from "./stripe";

const held = (page: Page) => page.getByRole("region", { name: "Current plan" });

async function fillCard(page: Page, number: string) {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name on the card").fill("Ann Example");
  await dialog.getByLabel("Stripe's number").fill(number);
}

test("a plan is paid with a card that only Stripe sees", async ({ page, member: _member, sent }) => {
  // From another page, whose policy does not allow Stripe's script.
  await expect(page).toHaveURL(/\/$/);
  await page.getByRole("link", { name: "Billing" }).click();
  await page.getByRole("button", { name: "Choose Starter" }).click();
  await expect(page.getByLabel("Card number")).toHaveCount(0);
  await fillCard(page, "4242424242424242");
  await page.getByRole("button", { name: /^Pay/ }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(held(page)).toContainText("Starter");
  await expect(held(page)).toContainText("•••• 4242");
  await expect(page.getByText("Ann Example")).toBeVisible();

  await page.getByRole("button", { name: "Add card" }).click();
  await fillCard(page, "5555555555554444");
  await page.getByRole("dialog").getByRole("button", { name: "Add card" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "•••• 4444" })).toBeVisible();

  const tokens = sent.filter((request) => /"token":"pm_/.test(request));
  expect(tokens.map((request) => new URL(request.split(" ")[0] ?? "").pathname)).toEqual([
    "/api/v1/membership/save",
    "/api/v1/paymentmethod/save",
  ]);
  for (const request of sent) expect(request.replace(/[ -]/g, "")).not.toMatch(/4242424242424242|5555555555554444|"cvc"|"cardNumber"/);
});

test("a refusal by Stripe or the bank is shown in the form, and nothing changes", async ({ page, member: _member, sent }) => {
  await page.goto("/billing");
  await page.getByRole("button", { name: "Choose Starter" }).click();
  const dialog = page.getByRole("dialog");
  await fillCard(page, "1234");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByRole("alert")).toContainText("Your card number is invalid.");
  expect(sent.filter((request) => request.includes("membership/save"))).toEqual([]);
  await fillCard(page, "4000000000000002");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByRole("alert")).toContainText(/declined/i);
  await dialog.getByRole("button", { name: "Not now" }).click();
  await expect(held(page)).toContainText("Free");
});

test("a failure to load Stripe's script is shown, and the form works when it is opened again", async ({ page, member: _member, sent }) => {
  await page.goto("/billing");
  await page.route(SCRIPT, (route) => route.abort());
  await page.getByRole("button", { name: "Add card" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("alert")).toContainText("Can’t reach the server");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.unroute(SCRIPT);
  await page.route(SCRIPT, (route) => route.fulfill({ contentType: "text/javascript", body: standIn }));
  await page.getByRole("button", { name: "Add card" }).click();
  await expect(dialog.getByLabel("Stripe's number")).toBeVisible();
  expect(sent.filter((request) => request.includes("paymentmethod/save"))).toEqual([]);
});

test("only the billing page's policy allows Stripe; axe finds nothing there, on a phone too", async ({
  page,
  member: _member,
  sent: _sent,
}) => {
  test.setTimeout(180_000);
  const policy = async (path: string) => (await page.goto(path))?.headers()["content-security-policy"] ?? "";
  expect(await policy("/")).not.toContain("stripe");
  expect(await policy("/billing")).toContain("script-src 'self' https://js.stripe.com");
  await page.setViewportSize({ width: 375, height: 720 });
  for (const colorScheme of ["light", "dark"] as const) {
    await switchScheme(page, colorScheme);
    await openPage(page, "/billing");
    await page.getByRole("button", { name: "Add card" }).click();
    await expect(page.getByRole("dialog").getByLabel("Stripe's number")).toBeVisible();
    expect(await axeViolations(page), colorScheme).toEqual([]);
    expect(await horizontalOverflow(page)).toBeLessThanOrEqual(0);
  }
});
