/** Several teams of one person, and invitations. */
import type { Browser, Page } from "@playwright/test";
import { axeViolations, horizontalOverflow, openPage } from "./axe";
import { expect, PASSWORD, signUp, test, type Member } from "./service";

const accountMenu = (page: Page) => page.getByRole("button", { name: /Account menu|Kontomenü/ });
const title = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const invitations = (page: Page) => page.locator("#invitations");

/** Closes a dialog by an action of it. */
async function act(page: Page, name: string) {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name, exact: true }).click();
  await expect(dialog).toHaveCount(0);
}

async function createTeam(page: Page, name: string) {
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "New team…" }).click();
  await page.getByRole("dialog").getByLabel("Team name").fill(name);
  await act(page, "Create team");
  await expect(page.getByText(`Created the team ${name}.`)).toBeVisible();
}

async function switchTo(page: Page, name: RegExp) {
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name }).click();
}

/** The name of the team that the sign-up has created. */
async function homeOf({ api }: Member): Promise<string> {
  return (await api.get<{ groupname: string }>("users/me")).groupname;
}

async function invite(member: Member, email: string, role = "editor"): Promise<string> {
  return (await member.api.post<{ link: string }>("invitation/save", { email, role, mail: false })).link;
}

let guests = 0;
const guestEmail = () => `guest${process.pid}.${guests++}@example.com`;

async function newBrowser(browser: Browser, baseURL: string | undefined): Promise<Page> {
  const context = await browser.newContext({ baseURL, locale: "en-GB", viewport: { width: 1280, height: 860 } });
  return context.newPage();
}

test("a person with one team sees its name; a second one has its own monitors, also in a second tab", async ({ page, member, context }) => {
  await member.api.monitor({ name: "at home" });
  const home = await homeOf(member);
  await openPage(page, "/");
  await expect(accountMenu(page)).toContainText(`${home} · Owner`);
  await accountMenu(page).click();
  await expect(page.getByRole("menuitem", { name: new RegExp(home) })).toHaveCount(0);
  await page.keyboard.press("Escape");

  await createTeam(page, "Shop");
  await expect(page.locator("#content")).toBeFocused();
  await expect(accountMenu(page)).toContainText("Shop · Owner");
  await expect(page.getByText("at home")).toHaveCount(0);
  const { groupid } = await page.evaluate(() =>
    fetch("/api/v1/users/me").then((answer) => answer.json() as Promise<{ groupid: string; groupname: string }>),
  );
  expect(groupid).toBe(await page.evaluate(() => sessionStorage.getItem("wakeful.team")));

  // A new tab starts in the team of the session, and can show another.
  const other = await context.newPage();
  await openPage(other, "/");
  await expect(accountMenu(other)).toContainText("Shop · Owner");
  await switchTo(other, new RegExp(`^${home}`));
  await expect(accountMenu(other)).toContainText(`${home} · Owner`);
  await expect(other.getByRole("link", { name: "at home", exact: true })).toBeVisible();
  await expect(other.getByText("Live", { exact: true })).toBeVisible();

  // The first tab stays in its team, also after a reload.
  await page.reload();
  await expect(accountMenu(page)).toContainText("Shop · Owner");
  await expect(page.getByText("at home")).toHaveCount(0);
  await openPage(page, "/monitor/new");
  await openPage(page, "/team");
  await expect(title(page, "Shop")).toBeVisible();

  // Events are those of the tab's team.
  await member.api.monitor({ name: "new at home" });
  await expect(other.getByRole("link", { name: "new at home" })).toBeVisible();

  // An export is of the tab's team, whichever the session is in.
  await openPage(page, "/team/audit");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "JSON Lines" }).click();
  const path = await (await download).path();
  const { readFileSync } = await import("node:fs");
  expect(readFileSync(path, "utf8")).toContain("team.create");
  await expect(accountMenu(other)).toContainText(`${home} · Owner`);
  await other.close();
});

test("the command palette switches teams, but not over unsaved changes", async ({ page, member }) => {
  const home = await homeOf(member);
  await member.api.post("team/new", { name: "Shop" });
  await openPage(page, "/monitor/new");
  await page.getByLabel("Name", { exact: true }).fill("half-typed");
  const palette = async () => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill("switch to shop");
    await expect(page.getByRole("option", { name: "Switch to Shop Owner" })).toBeVisible();
    await page.keyboard.press("Enter");
  };
  await palette();
  await expect(page.getByText("You have unsaved changes. Save or discard them")).toBeVisible();
  await expect(accountMenu(page)).toContainText(home);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Alerts" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await expect(title(page, "Alerts")).toBeVisible();
  await palette();
  await expect(page.getByText("You are now in the team Shop.")).toBeVisible();
  await expect(page).toHaveURL(/\/$/);
  await expect(accountMenu(page)).toContainText("Shop");
});

test("an invitation by link makes a new account that sees the team", async ({ page, member, browser, baseURL }) => {
  await member.api.monitor({ name: "shared" });
  const home = await homeOf(member);
  const email = guestEmail();
  await openPage(page, "/team");
  await expect(invitations(page)).toContainText("No open invitations.");
  await invitations(page).getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email", { exact: true }).fill(email);
  await expect(dialog).toContainText("changes nothing");
  await dialog.getByLabel("Role").selectOption("Editor");
  await expect(dialog).toContainText("Creates and changes monitors");
  await dialog.getByLabel("Role").selectOption("Responder");
  await expect(dialog.getByRole("textbox", { name: /tags/i })).toBeVisible();
  await dialog.getByRole("button", { name: "Create link" }).click();
  const link = await dialog.getByRole("group", { name: "Invitation link" }).innerText();
  await expect(dialog.getByRole("button", { name: "Copy : Invitation link" })).toBeVisible();
  await act(page, "Done");
  await expect(invitations(page).getByRole("listitem")).toContainText(`Responder · link by ${member.email} · expires`);

  const guest = await newBrowser(browser, baseURL);
  await guest.goto(link);
  await expect(title(guest, `Join ${home}`)).toBeVisible();
  await expect(guest).toHaveURL(/\/join$/);
  await expect(guest.getByText(`${member.email} has invited you to this team as Responder.`)).toBeVisible();
  await expect(guest.getByText("tests notifiers")).toBeVisible();
  await expect(guest.getByLabel("Email")).toHaveValue(email);
  await guest.getByLabel("Password", { exact: true }).fill("short");
  await guest.getByRole("button", { name: "Create account and join" }).click();
  await expect(guest.getByLabel("Password", { exact: true })).toHaveAttribute("aria-invalid", "true");
  // The link works after a reload too.
  await guest.reload();
  await guest.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await guest.getByLabel("Your name (optional)").fill("Gus Guest");
  await guest.getByRole("button", { name: "Create account and join" }).click();
  await expect(guest.getByText(`You are now a member of ${home}.`)).toBeVisible();
  await expect(guest.getByText("shared")).toBeVisible();
  await expect(accountMenu(guest)).toContainText(`${home} · Responder`);
  await guest.goto(link);
  await expect(title(guest, "This invitation doesn’t work")).toBeVisible();
  await guest.getByRole("link", { name: "Go to Wakeful" }).click();
  await expect(guest.getByText("shared")).toBeVisible();

  // The team does not manage the account of someone who was invited.
  await openPage(page, "/team");
  await expect(invitations(page)).toContainText("No open invitations.");
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await expect(dialog.getByLabel("Role")).toHaveValue("responder");
  await expect(dialog.getByLabel("Email")).toHaveCount(0);
  await expect(dialog.getByLabel("New password")).toHaveCount(0);
  await dialog.getByRole("button", { name: "Cancel" }).click();

  // Someone who was removed sees a team of their own.
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await dialog.getByRole("textbox").fill(email);
  await act(page, "Remove");
  await expect(guest.getByText("You no longer have access to the team that was shown here.")).toBeVisible({ timeout: 30_000 });
  await expect(accountMenu(guest)).toContainText("Gus Guest · Owner");
  await expect(guest.getByText("shared")).toHaveCount(0);
  await guest.context().close();
});

test("someone with an account logs in to accept, and with another account has to log out", async ({
  page,
  member,
  browser,
  baseURL,
  request,
}) => {
  const home = await homeOf(member);
  const email = guestEmail();
  await signUp(request, email);
  const link = await invite(member, email, "viewer");

  // The person who has sent it opens the link.
  await page.goto(link);
  await expect(page.getByText(`The invitation is for ${email}, but you are logged in as ${member.email}.`)).toBeVisible();
  await page.getByRole("button", { name: "Log out and continue" }).click();
  await expect(page.getByText(`${email} already has an account.`)).toBeVisible();
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(title(page, `Join ${home}`)).toBeVisible();
  await page.getByRole("button", { name: "Join team" }).click();
  await expect(page.getByText(`You are now a member of ${home}.`)).toBeVisible();
  await expect(accountMenu(page)).toContainText(`${home} · Viewer`);

  // Leaving it leads back to the other team.
  await openPage(page, "/team");
  await expect(page.getByRole("button", { name: "Edit team" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Delete team" })).toHaveCount(0);
  await expect(invitations(page)).toHaveCount(0);
  await page.getByRole("button", { name: "Leave team" }).click();
  await act(page, "Leave team");
  await expect(page.getByText(`You have left the team ${home}.`)).toBeVisible();
  await expect(accountMenu(page)).toContainText("· Owner");

  // A broken link, and one without a token.
  const guest = await newBrowser(browser, baseURL);
  for (const path of ["/join", "/join#token=wki_nothing"]) {
    await guest.goto(path);
    await expect(title(guest, "This invitation doesn’t work")).toBeVisible();
  }
  await guest.context().close();
});

test("a suspended membership cannot be chosen", async ({ page, member, request }) => {
  const email = guestEmail();
  const other = await signUp(request, email);
  const { link } = await other.post<{ link: string }>("invitation/save", { email: member.email, role: "viewer", mail: false });
  const theirs = (await other.get<{ groupname: string }>("users/me")).groupname;
  await page.goto(link);
  await page.getByRole("button", { name: "Join team" }).click();
  await expect(accountMenu(page)).toContainText(`${theirs} · Viewer`);
  const home = await homeOf(member);
  const { members } = await other.get<{ members: { userid: string; email: string }[] }>("team/members");
  const userid = members.find((each) => each.email === member.email)?.userid;
  await other.post("member/save", { userid, suspended: true });
  // The session is in that team, and the next one is not.
  await page.reload();
  await expect(page.getByText("Your account, your membership or the team is suspended.")).toBeVisible();
  await page.getByRole("link", { name: "Log in again" }).click();
  await page.getByLabel("Email").fill(member.email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(accountMenu(page)).toContainText(`${home} · Owner`);
  await accountMenu(page).click();
  await expect(page.getByRole("menuitem", { name: `${theirs} suspended` })).toBeDisabled();
});

test("a team is renamed, invitations get new links and are deleted, and the team is deleted", async ({ page, member, request }) => {
  const home = await homeOf(member);
  await openPage(page, "/");
  await createTeam(page, "Shop");
  await openPage(page, "/team");
  await page.getByRole("button", { name: "Edit team" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Team name").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByLabel("Team name")).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Team name").fill("Shop and Café");
  await dialog.getByLabel("Default role").selectOption("Viewer");
  await act(page, "Save");
  await expect(title(page, "Shop and Café")).toBeVisible();
  await expect(accountMenu(page)).toContainText("Shop and Café · Owner");

  const email = guestEmail();
  await invitations(page).getByRole("button", { name: "Invite" }).click();
  await dialog.getByLabel("Email", { exact: true }).fill(email);
  await dialog.getByRole("switch", { name: "Send the invitation by email" }).check();
  await act(page, "Send invitation");
  await expect(page.getByText(`Sent an invitation to ${email}.`)).toBeVisible();
  const row = invitations(page).getByRole("listitem");
  await expect(row).toContainText(`Viewer · emailed by ${member.email} · expires`);
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "New link" }).click();
  await expect(dialog).toContainText("The previous link stops working.");
  await dialog.getByRole("button", { name: "Create link" }).click();
  const link = await dialog.getByRole("group", { name: "Invitation link" }).innerText();
  await act(page, "Done");
  await expect(row).toContainText("link by");
  const token = link.split("token=")[1];
  expect((await request.post("/api/v1/invitation/read", { data: { token } })).status()).toBe(200);
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await act(page, "Delete");
  await expect(invitations(page)).toContainText("No open invitations.");
  expect((await request.post("/api/v1/invitation/read", { data: { token } })).status()).toBe(401);

  // The last owner cannot leave.
  await page.getByRole("button", { name: "Leave team" }).click();
  await dialog.getByRole("button", { name: "Leave team" }).click();
  await expect(dialog.getByRole("alert")).toContainText("The team would have no owner.");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "Delete team" }).click();
  await expect(dialog).toContainText("all monitors with their history, all notifiers");
  await expect(dialog.getByRole("button", { name: "Delete team" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("Shop and Café");
  await act(page, "Delete team");
  await expect(page.getByText("Deleted the team Shop and Café.")).toBeVisible();
  await expect(accountMenu(page)).toContainText(`${home} · Owner`);
});

for (const [language, width, colorScheme] of [
  ["en", 1280, "light"],
  ["de", 360, "dark"],
] as const) {
  test.describe(`in ${language}, ${width} px`, () => {
    test.use({ colorScheme, viewport: { width, height: 780 } });

    test("axe finds nothing, and nothing scrolls sideways", async ({ page, member, browser, baseURL }) => {
      test.setTimeout(120_000);
      const word = (english: string, german: string) => (language === "en" ? english : german);
      const inspect = async (name: string, shown = page) => {
        expect(await axeViolations(shown), name).toEqual([]);
        expect(await horizontalOverflow(shown), name).toBe(0);
      };
      const dialog = page.getByRole("dialog");
      const openDialog = async (button: string) => {
        await page.getByRole("button", { name: button, exact: true }).first().click();
        await expect(dialog).toHaveCSS("opacity", "1");
      };
      const cancel = async () => {
        await dialog.getByRole("button", { name: word("Cancel", "Abbrechen") }).click();
        await expect(dialog).toHaveCount(0);
      };
      const { groupid } = await member.api.post<{ groupid: string }>("team/new", {
        name: "The operations department of a company with a rather long name",
      });
      await member.api.post("team/switch", { groupid });
      const link = await invite(member, guestEmail());
      await invite(member, "someone.with.a.very.long.name.and.a.long.domain@subdomain.of.example.com", "viewer");
      await page.evaluate(
        ([to, team]) => {
          localStorage.setItem("wakeful.language", to);
          sessionStorage.setItem("wakeful.team", team);
        },
        [language, groupid] as const,
      );
      await openPage(page, "/");
      // A long name is cut off.
      expect(await accountMenu(page).evaluate((button) => button.scrollWidth - button.clientWidth)).toBe(0);
      await accountMenu(page).click();
      await expect(page.getByRole("menuitem", { name: word("New team…", "Neues Team …") })).toBeVisible();
      await expect(page.getByRole("menu")).toHaveCSS("opacity", "1");
      await inspect("switcher");
      await page.getByRole("menuitem", { name: word("New team…", "Neues Team …") }).click();
      await expect(page.getByRole("menu")).toHaveCount(0);
      await expect(dialog).toHaveCSS("opacity", "1");
      await inspect("new-team");
      await openPage(page, "/team");
      await expect(invitations(page).getByRole("listitem")).toHaveCount(2);
      await inspect("team");
      await openDialog(word("Edit team", "Team bearbeiten"));
      await inspect("edit-team");
      await cancel();
      await openDialog(word("Leave team", "Team verlassen"));
      await inspect("leave");
      await cancel();
      await openDialog(word("Delete team", "Team löschen"));
      await inspect("delete");
      await cancel();
      await openDialog(word("Invite", "Einladen"));
      await inspect("invite");
      await dialog.getByLabel(word("Email", "E-Mail"), { exact: true }).fill(guestEmail());
      await dialog.getByRole("button", { name: word("Create link", "Link erstellen") }).click();
      await expect(dialog.getByRole("group", { name: word("Invitation link", "Einladungslink") })).toBeVisible();
      await inspect("link");
      await page.goto(link);
      await expect(page.getByRole("button", { name: word("Log out and continue", "Abmelden und fortfahren") })).toBeVisible();
      await inspect("join-other");

      const guest = await browser.newContext({ baseURL, locale: language, colorScheme, viewport: { width, height: 780 } });
      const fresh = await guest.newPage();
      await fresh.goto(link);
      await expect(fresh.getByRole("button", { name: word("Create account and join", "Konto erstellen und beitreten") })).toBeVisible();
      await inspect("join-new", fresh);
      await fresh.goto("/login");
      await fresh.goto("/join#token=wki_x");
      await expect(title(fresh, word("This invitation doesn’t work", "Diese Einladung ist ungültig"))).toBeVisible();
      await inspect("join-broken", fresh);
      await guest.close();
    });
  });
}
