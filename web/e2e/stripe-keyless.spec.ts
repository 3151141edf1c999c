import { expect } from "./service";
import { SCRIPT, test } from "./stripe";

test.use({ publishable: "" });

test("without a publishable key the page takes no card, says why, and asks Stripe for nothing", async ({ page, member, sent }) => {
  expect(member.email).toContain("@");
  expect(sent, "nothing yet").toEqual([]);
  await page.goto("/billing");
  await page.getByRole("button", { name: "Choose Starter" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("alert")).toContainText("publishable key");
  await expect(dialog.getByRole("button", { name: /^Pay/ })).toBeDisabled();
  await expect(page.locator(`script[src="${SCRIPT}"]`)).toHaveCount(0);
});
