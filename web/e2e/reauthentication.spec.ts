/** Dangerous actions ask for the password again, and the policies of a team. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { axeViolations, horizontalOverflow, openPage } from "./axe";
import { expect, logIn, PASSWORD, test, type Member, type Service } from "./service";
import { totp } from "./totp";

/** As if the last login was an hour ago. */
function makeStale(service: Service, email: string) {
  execFileSync("python3", [join(import.meta.dirname, "stale_sessions.py"), join(service.data, "wakeful.db"), email]);
}

const asked = (page: Page) => page.getByRole("dialog", { name: /Confirm that it’s you|Bestätigen Sie, dass Sie es sind/ });
const policies = (page: Page) => page.locator("#policies");

/** Turns on two-factor authentication; returns the secret of the app. */
async function enableMfa(member: Member): Promise<string> {
  const { secret } = await member.api.post<{ secret: string }>("mfa/setup", {});
  await member.api.post("mfa/enable", { mfacode: totp(secret) });
  return secret;
}

test("with the keyboard: a stale session asks for the password, and the action is then done", async ({ page, member, service }) => {
  await openPage(page, "/settings");
  makeStale(service, member.email);
  await page.getByRole("button", { name: "New API key" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  await page.keyboard.type("deploy script");
  await page.keyboard.press("Enter");
  const password = asked(page).getByLabel("Password", { exact: true });
  await expect(password).toBeFocused();

  // Escape closes this dialog only; what was typed below is still there.
  await page.keyboard.press("Escape");
  await expect(asked(page)).toHaveCount(0);
  const below = page.getByRole("dialog", { name: "New API key" });
  await expect(below.getByRole("alert")).toHaveText("This needs your password. Nothing was changed.");
  await expect(below.getByLabel("Name", { exact: true })).toHaveValue("deploy script");
  await below.getByLabel("Name", { exact: true }).focus();
  await page.keyboard.press("Enter");

  await expect(password).toBeFocused();
  await page.keyboard.type("something else");
  await page.keyboard.press("Enter");
  await expect(asked(page).getByRole("alert")).toContainText("incorrect");
  await expect(password).toHaveValue("something else");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await expect(asked(page)).toHaveCount(0);
  await expect(page.getByRole("dialog", { name: "API key “deploy script”" })).toContainText("wka_");
  expect((await member.api.get<{ apikeys: unknown[] }>("integrations/apikeys")).apikeys).toHaveLength(1);
});

test("the second factor is asked for, too, and one dialog is enough for a while", async ({ page, member, service }) => {
  const secret = await enableMfa(member);
  await openPage(page, "/team");
  makeStale(service, member.email);
  await policies(page).getByLabel("Maximum lifetime of new API keys, in days").fill("30");
  await policies(page).getByRole("button", { name: "Save" }).click();
  await asked(page).getByLabel("Password", { exact: true }).fill(PASSWORD);
  // The code of this step was used to turn it on; the next one is accepted already.
  await asked(page)
    .getByLabel("Code")
    .fill(totp(secret, Date.now() + 30_000));
  await asked(page).getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("Policies saved.")).toBeVisible();
  await policies(page).getByRole("switch", { name: "Only service accounts can have API keys" }).check();
  await policies(page).getByRole("button", { name: "Save" }).click();
  await expect(policies(page).getByRole("button", { name: "Save" })).toBeDisabled();
  await expect(asked(page)).toHaveCount(0);
  const team = async () => (await member.api.get<{ teams: { key_days: number; personal_keys: boolean; mfa: string }[] }>("teams")).teams[0];
  await expect.poll(team).toMatchObject({ key_days: 30, personal_keys: false, mfa: "optional" });
  await openPage(page, "/settings");
  await expect(page.getByText("In this team, only service accounts can have API keys.")).toBeVisible();
  await expect(page.getByRole("button", { name: "New API key" })).toHaveCount(0);
});

test("a team that requires a second factor leads to its setup, and it cannot be turned off", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await openPage(page, "/team");
  await policies(page).getByRole("switch", { name: "Require two-factor authentication" }).check();
  await expect(policies(page)).toContainText("You don’t have it yourself");
  await policies(page).getByRole("button", { name: "Save" }).click();
  await expect(policies(page)).toHaveCount(0);

  await openPage(page, "/");
  await expect(page).toHaveURL(/\/settings$/);
  await openPage(page, "/alerts");
  await expect(page.getByRole("heading", { name: "Set up two-factor authentication" })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole("main").getByRole("link", { name: "Settings" }).click();
  const mfa = page.locator("#mfa");
  await expect(mfa).toContainText("This team requires two-factor authentication. Set it up to continue.");
  await mfa.getByRole("button", { name: "Set up two-factor authentication" }).click();
  const secret = await mfa.getByRole("group", { name: "Secret" }).innerText();
  await mfa.getByLabel("Code from the app").fill(totp(secret.trim()));
  await mfa.getByRole("button", { name: "Turn on" }).click();
  await mfa.getByRole("button", { name: "I’ve saved them" }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Monitors" }).click();
  await expect(page.getByRole("link", { name: "job" })).toBeVisible();

  await openPage(page, "/settings");
  await mfa.getByRole("button", { name: "Turn off" }).click();
  await mfa.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await mfa.getByLabel("Code").fill(totp(secret.trim(), Date.now() + 30_000));
  await mfa.getByRole("button", { name: "Turn off" }).click();
  await expect(mfa.getByRole("alert")).toHaveText("One of your teams requires two-factor authentication, so you can’t turn it off.");
});

test("recovery codes are replaced, and a colleague’s second factor is removed", async ({ page, member, request, browser, baseURL }) => {
  const email = `colleague.${member.email}`;
  await member.api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD });
  const context = await browser.newContext({ baseURL });
  const theirs = await context.newPage();
  await logIn(theirs, email);
  const token = (await (await request.post("/api/v1/login", { data: { email, password: PASSWORD } })).json()) as { token: string };
  const headers = { authorization: `Bearer ${token.token}` };
  const { secret } = (await (await request.post("/api/v1/mfa/setup", { headers })).json()) as { secret: string };
  await request.post("/api/v1/mfa/enable", { headers, data: { mfacode: totp(secret) } });
  await openPage(theirs, "/settings");
  await theirs.getByRole("button", { name: "New recovery codes" }).click();
  await theirs.getByRole("dialog").getByRole("button", { name: "New recovery codes" }).click();
  await expect(theirs.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
  await context.close();

  await openPage(page, "/team");
  await page.getByRole("button", { name: `Actions for ${member.email}`, exact: true }).click();
  await expect(page.getByRole("menuitem", { name: "Edit" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Remove second factor" })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "Remove second factor" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove second factor" }).click();
  await expect(page.getByText(`Removed the second factor of ${email}.`)).toBeVisible();
  const login = await request.post("/api/v1/login", { data: { email, password: PASSWORD } });
  expect(login.status()).toBe(200);
});

for (const [language, width, colorScheme] of [
  ["en", 1280, "light"],
  ["de", 360, "dark"],
] as const) {
  test.describe(`in ${language}, ${width} px`, () => {
    test.use({ colorScheme, viewport: { width, height: 780 } });

    test("axe finds nothing, and nothing scrolls sideways", async ({ page, member, service }) => {
      const word = (english: string, german: string) => (language === "en" ? english : german);
      const inspect = async (name: string) => {
        expect(await axeViolations(page), name).toEqual([]);
        expect(await horizontalOverflow(page), name).toBe(0);
      };
      await enableMfa(member);
      await page.evaluate((to) => localStorage.setItem("wakeful.language", to), language);
      await openPage(page, "/team");
      await policies(page)
        .getByRole("switch", { name: word("Require two-factor authentication", "Zwei-Faktor-Authentifizierung verlangen") })
        .check();
      await inspect("policies");
      await page.screenshot({ path: `test-results/policies-${language}.png`, fullPage: true });
      makeStale(service, member.email);
      await policies(page)
        .getByRole("button", { name: word("Save", "Speichern") })
        .click();
      await expect(asked(page)).toHaveCSS("opacity", "1");
      await inspect("dialog");
      await page.screenshot({ path: `test-results/reauthentication-${language}.png` });
      await asked(page).getByLabel(word("Password", "Passwort"), { exact: true }).fill("wrong");
      await asked(page).getByLabel(/^Code/).fill("000000");
      await asked(page)
        .getByRole("button", { name: word("Continue", "Weiter") })
        .click();
      await expect(asked(page).getByRole("alert")).toBeVisible();
      await inspect("refused");
    });
  });
}
