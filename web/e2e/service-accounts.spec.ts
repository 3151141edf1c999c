/** Service accounts, and the API keys of everyone in the team. */
import type { APIRequestContext, Page } from "@playwright/test";
import { axeViolations, horizontalOverflow, openPage, switchScheme } from "./axe";
import { expect, logIn, PASSWORD, test, type Member } from "./service";

const panel = (page: Page, id: "members" | "service-accounts" | "team-keys") => page.locator(`#${id}`);
const rows = (page: Page, id: "members" | "service-accounts" | "team-keys") => panel(page, id).getByRole("listitem");

async function createAccount(page: Page, name: string, role: string) {
  await panel(page, "service-accounts").getByRole("button", { name: "New service account" }).click();
  const dialog = page.getByRole("dialog", { name: "New service account" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Role").selectOption(role);
  await dialog.getByRole("button", { name: "Create service account" }).click();
  await expect(dialog).toHaveCount(0);
}

async function chooseAction(page: Page, name: string, action: string) {
  await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

interface Headers extends Record<string, string> {
  "X-API-Key": string;
  "X-Enc-Key": string;
}

/** Reads both keys while they are shown. */
async function takeKeys(page: Page): Promise<Headers> {
  const headers = {
    "X-API-Key": await page.getByRole("group", { name: "X-API-Key" }).innerText(),
    "X-Enc-Key": await page.getByRole("group", { name: "X-Enc-Key" }).innerText(),
  };
  await page.getByRole("button", { name: "I’ve saved both keys" }).click();
  return headers;
}

const whoAmI = (request: APIRequestContext, headers: Headers) => request.get("/api/v1/users/me", { headers });

async function saveService({ api }: Member, name: string, role = "viewer"): Promise<string> {
  return (await api.post<{ serviceid: string }>("service/save", { name, role })).serviceid;
}

/** A service account with a limited and an unlimited key, one without keys, and a person's key. */
async function createKeys(member: Member) {
  const serviceid = await saveService(member, "terraform", "editor");
  await saveService(member, "a chat bot with a rather long name, so that it has to be shortened somewhere");
  await member.api.post(`service/${serviceid}/key/save`, { name: "dashboard", scope: "viewer", tags: ["web", "mail"], expires: "30" });
  await member.api.post(`service/${serviceid}/key/save`, { name: "nightly" });
  await member.api.post("integrations/apikey/save", { name: "my laptop" });
}

test("a service account acts with its key until it is suspended, and both can be deleted", async ({ page, member, request }) => {
  await openPage(page, "/team");
  await expect(panel(page, "service-accounts")).toContainText("Create a service account for each program");
  await createAccount(page, "terraform", "Editor");
  const account = rows(page, "service-accounts");
  await expect(account).toContainText("Editor · no API keys · never used");
  // It is not a member.
  await expect(rows(page, "members")).toHaveCount(1);

  await chooseAction(page, "terraform", "New API key");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("The key can never do more than the service account can.");
  await dialog.getByLabel("Name").fill("ci");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByRole("button", { name: "Copy : X-API-Key" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Copy : X-Enc-Key" })).toBeVisible();
  const headers = await takeKeys(page);
  await expect(account).toContainText("1 API key · never used");
  const me = (await (await whoAmI(request, headers)).json()) as object;
  expect(me).toMatchObject({ kind: "service", name: "terraform", role: "editor" });

  await openPage(page, "/team");
  await expect(account).toContainText("1 API key · last used");
  const key = rows(page, "team-keys");
  await expect(key).toContainText("Service account terraform");
  await expect(key).toContainText("Everything its holder can do");
  await expect(key).toContainText(`${headers["X-API-Key"].slice(0, 10)}…`);
  await expect(key).toContainText(/last used .* from 127\.0\.0\.1/);

  await chooseAction(page, "terraform", "Suspend");
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await expect(account).toContainText("Suspended");
  const refused = await request.get("/api/v1/monitors", { headers });
  expect(await refused.json()).toMatchObject({ code: "suspended" });
  await chooseAction(page, "terraform", "End suspension");
  await expect(account).not.toContainText("Suspended");
  expect((await request.get("/api/v1/monitors", { headers })).status()).toBe(200);

  await key.getByRole("button", { name: "Remove the API key ci (Service account terraform)" }).click();
  await expect(dialog).toContainText("stops working immediately");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect(panel(page, "team-keys")).toContainText("No API keys yet.");
  await expect(account).toContainText("no API keys");
  expect((await whoAmI(request, headers)).status()).toBe(401);

  await chooseAction(page, "terraform", "Delete");
  await expect(dialog.getByRole("button", { name: "Delete" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("terraform");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(account).toHaveCount(0);
  expect(await member.api.get("services")).toMatchObject({ services: [] });
});

test("a service account is renamed and gets another role, and its keys go with it", async ({ page, member, request }) => {
  await openPage(page, "/team");
  await createAccount(page, "robot", "Viewer");
  await chooseAction(page, "robot", "New API key");
  await page.getByRole("dialog").getByLabel("Name").fill("nightly");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const headers = await takeKeys(page);

  await chooseAction(page, "robot", "Edit");
  const dialog = page.getByRole("dialog", { name: "Edit robot" });
  const role = dialog.getByLabel("Role");
  await expect(role.getByRole("option")).toHaveText(["Admin", "Editor", "Responder", "Viewer"]);
  await expect(dialog).toContainText("changes nothing");
  await role.selectOption("Responder");
  await expect(dialog).toContainText("tests notifiers");
  await dialog.getByLabel("Name").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toContainText("This is required.");
  await dialog.getByLabel("Name").fill("chat bot");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(rows(page, "service-accounts")).toContainText("chat bot");
  await expect(rows(page, "service-accounts")).toContainText("Responder");
  await expect(rows(page, "team-keys")).toContainText("Service account chat bot");
  expect(await (await whoAmI(request, headers)).json()).toMatchObject({ name: "chat bot", role: "responder" });

  await chooseAction(page, "chat bot", "Delete");
  await page.getByRole("dialog").getByRole("textbox").fill("chat bot");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(panel(page, "team-keys")).toContainText("No API keys yet.");
  expect((await whoAmI(request, headers)).status()).toBe(401);
  expect(await member.api.get("team/keys")).toMatchObject({ apikeys: [] });
});

test("the keys of the team show their limits, and an expired one is marked", async ({ page, member }) => {
  await createKeys(member);
  await openPage(page, "/team");
  const limited = rows(page, "team-keys").filter({ hasText: "dashboard" });
  await expect(limited).toContainText("View only (only mail, web)");
  await expect(limited).toContainText("expires");
  await expect(limited).toContainText("never used");
  await expect(rows(page, "team-keys").filter({ hasText: "my laptop" })).toContainText(member.email);
  await page.clock.setFixedTime(Date.now() + 31 * 86_400_000);
  await openPage(page, "/team");
  await expect(limited).toContainText("expired");
});

test("the user's own keys show the address that last used them", async ({ page, member, request }) => {
  const body = { name: "deploy script" };
  const { apikey, enckey } = await member.api.post<{ apikey: string; enckey: string }>("integrations/apikey/save", body);
  await openPage(page, "/settings");
  await expect(panelOfKeys(page)).toContainText("never used");
  expect((await whoAmI(request, { "X-API-Key": apikey, "X-Enc-Key": enckey })).status()).toBe(200);
  await openPage(page, "/settings");
  await expect(panelOfKeys(page)).toContainText(/last used .* from 127\.0\.0\.1/);
});

const panelOfKeys = (page: Page) => page.locator("#api-keys").getByRole("listitem");

/** Logs in as a new user of the team, and returns the paths of refused calls. */
async function logInAs(page: Page, member: Member, role: string): Promise<string[]> {
  const email = `${role}.${member.email}`;
  await member.api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD, role });
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  await logIn(page, email);
  return refused;
}

test("a viewer is offered neither service accounts nor the keys of the team", async ({ browser, baseURL, member }) => {
  await createKeys(member);
  const page = await (await browser.newContext({ baseURL: baseURL ?? "", locale: "en-GB" })).newPage();
  const refused = await logInAs(page, member, "viewer");
  await openPage(page, "/team");
  await expect(rows(page, "members")).toHaveCount(2);
  await expect(page.getByRole("heading", { level: 2 })).toHaveText(["Members", "Leave team"]);
  await expect(page.getByRole("main").getByRole("button")).toHaveText(["Leave team"]);
  expect(refused).toEqual([]);
  await page.context().close();
});

test("an admin manages service accounts, but cannot remove an owner's key", async ({ browser, baseURL, member }) => {
  await createKeys(member);
  const page = await (await browser.newContext({ baseURL: baseURL ?? "", locale: "en-GB" })).newPage();
  const refused = await logInAs(page, member, "admin");
  await openPage(page, "/team");
  await expect(rows(page, "team-keys")).toHaveCount(3);
  const remove = (name: string) => rows(page, "team-keys").filter({ hasText: name }).getByRole("button");
  await expect(remove("nightly")).toBeVisible();
  await expect(remove("my laptop")).toHaveCount(0);
  await createAccount(page, "importer", "Admin");
  await expect(rows(page, "service-accounts")).toHaveCount(3);
  expect(refused).toEqual([]);
  await page.context().close();
});

for (const language of ["en", "de"]) {
  test(`axe finds nothing in the sections and their dialogs, and they fit a phone, ${language}`, async ({ page, member }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate((chosen) => localStorage.setItem("wakeful.language", chosen), language);
    const inspect = async (name: string) => {
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 860 });
        for (const scheme of ["light", "dark"] as const) {
          await switchScheme(page, scheme);
          expect(await axeViolations(page), `${name}, ${width} px, ${scheme}`).toEqual([]);
        }
        expect(await horizontalOverflow(page), `${name}, ${width} px`).toBeLessThanOrEqual(0);
      }
    };
    const word = (en: string, de: string) => (language === "en" ? en : de);
    await openPage(page, "/team");
    await expect(panel(page, "team-keys")).toContainText(word("No API keys yet.", "Noch keine API-Schlüssel."));
    await inspect("nothing yet");
    await createKeys(member);
    await openPage(page, "/team");
    await expect(rows(page, "team-keys")).toHaveCount(3);
    await inspect("the lists");
    await expect(page.getByRole("heading", { level: 2 })).toHaveText(
      language === "en"
        ? ["Members", "Invitations", "Service accounts", "API keys", "Ping key", "Audit log", "Policies", "Leave team", "Delete team"]
        : [
            "Mitglieder",
            "Einladungen",
            "Dienstkonten",
            "API-Schlüssel",
            "Ping-Schlüssel",
            "Audit-Log",
            "Richtlinien",
            "Team verlassen",
            "Team löschen",
          ],
    );

    await page.getByRole("button", { name: word("New service account", "Neues Dienstkonto") }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toHaveCSS("opacity", "1");
    await inspect("a new service account");
    await dialog.getByRole("button", { name: word("Cancel", "Abbrechen") }).click();
    await page.getByRole("button", { name: word("Actions for terraform", "Aktionen für terraform") }).click();
    await page.getByRole("menuitem", { name: word("New API key", "Neuer API-Schlüssel") }).click();
    await expect(dialog).toContainText(word("New API key for terraform", "Neuer API-Schlüssel für terraform"));
    await inspect("a new key");
    await dialog.getByLabel("Name").fill("cd");
    await dialog.getByRole("button", { name: word("Create key", "Schlüssel erstellen") }).click();
    await expect(page.getByRole("group", { name: "X-Enc-Key" })).toBeVisible();
    await inspect("both keys");
  });
}

test("the sections are in German", async ({ page, member }) => {
  await createKeys(member);
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  await openPage(page, "/team");
  await expect(panel(page, "service-accounts")).toContainText("Konten für Programme");
  await expect(rows(page, "service-accounts").filter({ hasText: "terraform" })).toContainText("2 API-Schlüssel · nie verwendet");
  const limited = rows(page, "team-keys").filter({ hasText: "dashboard" });
  await expect(limited).toContainText("Dienstkonto terraform");
  await expect(limited).toContainText("Nur ansehen (nur mail, web)");
  await page.getByRole("button", { name: "Aktionen für terraform" }).click();
  await expect(page.getByRole("menuitem")).toHaveText(["Neuer API-Schlüssel", "Bearbeiten", "Sperren", "Löschen"]);
});
