/** The first visitor of a new installation. The settings give this file a service of its own. */
import { expect, signUp, test } from "./service";

test.use({ settings: { WAKEFUL_LOG: "error" } });

test("a new installation opens on the sign-up, and on the login once somebody has signed up", async ({
  page,
  browser,
  service,
  request,
}) => {
  await page.goto("/");
  await expect(page.getByRole("button", { name: "Sign up" })).toBeVisible();
  await expect(page).toHaveURL(/\/signup$/);
  await page.goto("/monitor/new");
  await expect(page).toHaveURL(/\/signup$/);
  await signUp(request, "first@example.com");
  const other = await browser.newPage({ baseURL: service.url });
  await other.goto("/");
  await expect(other.getByRole("heading", { name: "Log in" })).toBeVisible();
  await other.close();
});
