import { expect, logIn, PASSWORD, signUp, test } from "./service";

/** Plain http on a name other than localhost, where browsers do not give pages access to the clipboard. */
const NAME = "wakeful.home";

test.use({ settings: { WAKEFUL_SERVER_PUBLIC_URL: `http://${NAME}` } });

test("a secret can be copied on plain http too, or is at least selected", async ({ page, request, service }) => {
  const home = service.url.replace("127.0.0.1", NAME);
  const email = `home${process.pid}.${test.info().repeatEachIndex}@example.com`;
  await signUp(request, email);
  await logIn(page, email, PASSWORD, home);
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
  await page.goto(`${home}/settings`);
  await page.getByRole("button", { name: "New API key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("deploy script");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const apikey = await page.getByRole("group", { name: "X-API-Key" }).innerText();
  await page.getByRole("button", { name: "Copy : X-API-Key" }).click();
  await expect(page.getByRole("button", { name: "Copied : X-API-Key" })).toBeVisible();

  // A browser without the deprecated copy command.
  await page.evaluate(() => Object.assign(document, { execCommand: () => false }));
  const enckey = await page.getByRole("group", { name: "X-Enc-Key" }).innerText();
  await page.getByRole("button", { name: "Copy : X-Enc-Key" }).click();
  await expect(page.getByRole("status").getByText("Press Ctrl+C")).toBeVisible();
  expect(await page.evaluate(() => document.getSelection()?.toString())).toBe(enckey);

  await page.getByRole("button", { name: "I’ve saved both keys" }).click();
  const field = page.getByLabel("Email");
  await field.focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Control+V");
  await expect(field).toHaveValue(apikey);
});
