/** What a visitor gets before and without a login. */
import { axeViolations } from "./axe";
import { expect, test } from "./service";

test("the logo is painted before any script or style has arrived", async ({ page }) => {
  await page.route("**/assets/**", () => {
    // Never answered, as on a very slow connection.
  });
  await page.goto("/", { waitUntil: "commit" });
  await expect(page.getByRole("img", { name: "Wakeful" })).toBeVisible();
  const painted = () => page.evaluate(() => performance.getEntriesByName("first-contentful-paint").length);
  await expect.poll(painted).toBe(1);
  expect(await page.evaluate(() => document.styleSheets.length)).toBe(0);
});

test("the document is less than 14 kB, and the logo gives way to the web app", async ({ page }) => {
  const answer = await page.goto("/login");
  expect((await answer?.body())?.length).toBeLessThan(14_000);
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
  await expect(page.locator("#boot")).toHaveCount(0);
});

test("a load without a session logs no failed request", async ({ page }) => {
  const messages: string[] = [];
  page.on("console", (message) => messages.push(message.text()));
  for (const path of ["/login", "/", "/settings"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  }
  expect(messages.filter((text) => text.startsWith("Failed to load resource"))).toEqual([]);
});

test("a page that does not exist has a heading, and the brand is in a landmark", async ({ page, member: _member }) => {
  await page.goto("/nothing/here");
  await expect(page.getByRole("heading", { level: 1, name: "Page not found" })).toBeVisible();
  await expect(page.getByRole("banner").getByRole("link", { name: "Wakeful", exact: true })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
});
