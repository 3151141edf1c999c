import { expect } from "./service";
import { test } from "./stripe";

test.use({ publishable: "" });

test("without a publishable key, the page accepts no card, says why, and sends Stripe no request", async ({
  page,
  member: _member,
  sent: _sent,
}) => {
  const toStripe: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("stripe.com")) toStripe.push(request.url());
  });
  await page.goto("/billing");
  await page.getByRole("button", { name: "Choose Starter" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("alert")).toContainText("publishable key");
  await expect(dialog.getByRole("button", { name: /^Pay/ })).toBeDisabled();
  expect(toStripe).toEqual([]);
});
