import { expect, logIn, logOut, PASSWORD, signUp, test, type Service } from "./service";
import { totp } from "./totp";

const JOB = { type: "api", heartbeat_interval: 86400, isactive: true, upside_down_mode: false };

test("after signing up, the first monitor is running and live within three clicks", async ({ page, service }) => {
  service.target.status = 200;
  await page.goto("/login");
  await page.getByRole("link", { name: "Sign up" }).click();
  await expect(page.getByRole("heading", { name: "Create your account" })).toBeVisible();
  await page.getByLabel("Email").fill(`first${process.pid}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();

  await expect(page.getByRole("heading", { name: "What should we watch?" })).toBeVisible();
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await expect(page.getByText(/^200/)).toBeVisible();
  await expect(page.getByText("Waiting (TTFB)")).toBeVisible();
  await page.getByRole("button", { name: "Start monitoring" }).click();
  await page.getByRole("button", { name: "Skip for now" }).click();

  await expect(page).toHaveURL(/\/monitor\/[^/]+$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(service.target.url.replace("http://", ""));
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
});

test("the session is a cookie that scripts cannot read, and nothing of it is stored", async ({ page, context, member }) => {
  const cookies = await context.cookies();
  expect(cookies).toMatchObject([{ name: "wakeful", httpOnly: true, sameSite: "Strict", path: "/" }]);
  const readable = await page.evaluate(() => [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join());
  expect(readable).not.toContain("wk_");
  await page.reload();
  await expect(page.getByRole("button", { name: `Account menu of ${member.email}` })).toBeVisible();
});

test("a wrong password shows a message, and invalid fields show theirs at the field", async ({ page, request }) => {
  await signUp(request, `wrong${process.pid}@example.com`);
  await page.goto("/login");
  await page.getByLabel("Email").fill(`wrong${process.pid}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill("not my password");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toContainText("email or password is incorrect");

  await page.goto("/signup");
  await page.getByLabel("Email").fill(`other${process.pid}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill("password");
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Email").fill(`wrong${process.pid}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByRole("alert")).toContainText("already in use");
});

test("a deep link leads through the login to its page", async ({ page, member }) => {
  await logOut(page);
  await page.goto("/team");
  await expect(page).toHaveURL(/\/login\?next=%2Fteam$/);
  await page.getByLabel("Email").fill(member.email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page).toHaveURL(/\/team$/);
});

test("logging out everywhere ends the other browser's session too", async ({ page, browser, member, baseURL }) => {
  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, member.email);
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Log out everywhere" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Log out everywhere" }).click();
  await expect(page).toHaveURL(/\/login/);
  await other.goto("/settings");
  await expect(other).toHaveURL(/\/login/);
  await other.context().close();
});

test("two-factor authentication: set up, required at login, recovery code accepted, turned off", async ({ page, member }) => {
  test.setTimeout(90_000);
  await page.goto("/settings");
  await page.getByRole("button", { name: "Set up two-factor authentication" }).click();
  const qr = page.getByRole("img", { name: /QR code/ });
  await expect(qr).toBeVisible();
  expect(await qr.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  const secret = await page.getByRole("group", { name: "Secret" }).innerText();

  await page.getByLabel("Code from the app").fill("000000");
  await page.getByRole("button", { name: "Turn on" }).click();
  await expect(page.getByRole("alert")).toContainText("incorrect");
  await page.getByLabel("Code from the app").fill(totp(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  const listed = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(listed).toHaveCount(10);
  const codes = await listed.allInnerTexts();
  await page.getByRole("button", { name: "I’ve saved them" }).click();
  await expect(page.getByText("On", { exact: true })).toBeVisible();

  await logOut(page);
  await page.getByLabel("Email").fill(member.email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Two-factor authentication" })).toBeVisible();
  await page.getByLabel("Code").fill("123456");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toContainText("incorrect or already used");
  await page.getByLabel("Code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();

  await page.goto("/settings");
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Code", { exact: true }).fill(codes[1] ?? "");
  await page.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByText("Off", { exact: true })).toBeVisible();
});

/** The path of the link in the reset mail to this address, once it has arrived. */
function resetLink(service: Service, email: string): string | undefined {
  return service
    .mails()
    .filter((mail) => mail.includes(email))
    .map((mail) => /\/password#tokenid=[\w-]+/.exec(mail.replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[0])
    .find((found) => found !== undefined);
}

test("a forgotten password can be reset by the emailed link, once", async ({ page, request, service }) => {
  const email = `lost${process.pid}@example.com`;
  await signUp(request, email);
  await page.goto("/login");
  await page.getByRole("link", { name: "Forgot password?" }).click();
  await expect(page).toHaveURL(/\/lost$/);
  await expect(page.getByRole("heading", { name: "Forgot password?" })).toBeVisible();
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Email me a link" }).click();
  await expect(page.getByRole("status").getByText(email)).toBeVisible();
  const link = () => resetLink(service, email);
  await expect.poll(link).toBeTruthy();

  await page.goto(link() ?? "");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("New password").fill("another horse 10");
  await page.getByLabel("Confirm password").fill("another horse 11");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByText("Passwords don’t match.")).toBeVisible();
  await page.getByLabel("Confirm password").fill("another horse 10");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page).toHaveURL(/\/login$/);
  await logIn(page, email, "another horse 10");

  await logOut(page);
  await page.goto("/contact");
  await page.goto(link() ?? "");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("New password").fill("a third horse 12");
  await page.getByLabel("Confirm password").fill("a third horse 12");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByRole("alert")).toContainText("Request a new one");
});

test("after a reset the first view shows who else is in the team", async ({ page, request, service }) => {
  const email = `squatted${process.pid}@example.com`;
  const other = `squatter${process.pid}@example.com`;
  const api = await signUp(request, email);
  await api.post("team/save", { email: other, password1: PASSWORD, password2: PASSWORD });
  await request.post("/api/v1/password/lost", { data: { email } });
  const link = () => resetLink(service, email);
  await expect.poll(link).toBeTruthy();
  await page.goto(link() ?? "");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("New password").fill("another horse 10");
  await page.getByLabel("Confirm password").fill("another horse 10");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page).toHaveURL(/\/login$/);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("another horse 10");
  await page.getByRole("button", { name: "Log in" }).click();

  const review = page.getByRole("region", { name: "Review team" });
  await expect(review.getByRole("listitem")).toHaveText([other]);
  await review.getByRole("link", { name: "Review team" }).click();
  await expect(page).toHaveURL(/\/team$/);
  await expect(page.getByRole("listitem").filter({ hasText: other })).toBeVisible();
  await expect(review).toHaveCount(0);
});

test("the contact form reaches the operator", async ({ page, service }) => {
  await page.goto("/contact");
  await page.getByLabel("Name").fill("Ann");
  await page.getByLabel("Email").fill("ann@example.com");
  await page.getByLabel("Subject").fill("A question of lighthouses");
  await page.getByLabel("Message").fill("Do you watch those too?");
  await page.getByRole("button", { name: "Send message" }).click();
  await expect(page.getByRole("status").getByText("Thank you")).toBeVisible();
  await expect.poll(() => service.mails().some((mail) => mail.includes("lighthouses"))).toBe(true);
});

test("an API key pair is shown once, works as in the example request, and can be removed", async ({ page, member: _member, request }) => {
  await page.goto("/settings");
  await page.getByRole("button", { name: "New API key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("deploy script");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const apikey = await page.getByRole("group", { name: "X-API-Key" }).innerText();
  const enckey = await page.getByRole("group", { name: "X-Enc-Key" }).innerText();
  const curl = await page.getByRole("group", { name: "Example request" }).innerText();
  expect(curl).toContain(apikey);
  expect(curl).toContain(enckey);
  const headers = { "X-API-Key": apikey, "X-Enc-Key": enckey };
  expect((await request.get("/api/v1/monitors", { headers })).status()).toBe(200);
  await page.getByRole("button", { name: "I’ve saved both keys" }).click();
  await expect(page.getByText("deploy script")).toBeVisible();
  await page.getByRole("button", { name: "Remove the API key deploy script" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("No API keys yet.")).toBeVisible();
  expect((await request.get("/api/v1/monitors", { headers })).status()).toBe(401);
});

test("an API key can be limited to tags and expire", async ({ page, member, request }) => {
  await member.api.post("monitor/save", { ...JOB, name: "web", tags: "web" });
  await member.api.post("monitor/save", { ...JOB, name: "mail", tags: "mx" });
  await page.goto("/settings");
  await page.getByRole("button", { name: "New API key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("dashboard");
  await expect(dialog.getByLabel("Only monitors with these tags")).toHaveCount(0);
  await dialog.getByLabel("Scope").selectOption("View only");
  await dialog.getByLabel("Only monitors with these tags").fill("web");
  await dialog.getByLabel("Only monitors with these tags").press("Enter");
  await dialog.getByLabel("Expires").selectOption("In 90 days");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const apikey = await page.getByRole("group", { name: "X-API-Key" }).innerText();
  const enckey = await page.getByRole("group", { name: "X-Enc-Key" }).innerText();
  const answer = await request.get("/api/v1/monitors", { headers: { "X-API-Key": apikey, "X-Enc-Key": enckey } });
  const { monitors } = (await answer.json()) as { monitors: { name: string }[] };
  expect(monitors.map((monitor) => monitor.name)).toEqual(["web"]);
  await page.getByRole("button", { name: "I’ve saved both keys" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "dashboard" });
  await expect(row).toContainText("View only (only web)");
  await expect(row).toContainText("expires");
});

test("a viewer can be limited to tags or to named monitors, and suspended", async ({ page, member }) => {
  await member.api.post("monitor/save", { ...JOB, name: "web", tags: "web" });
  await member.api.post("monitor/save", { ...JOB, name: "mail", tags: "mx" });
  const viewer = `viewer.${member.email}`;
  await page.goto("/team");
  await page.getByRole("button", { name: "Add user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill(viewer);
  await dialog.getByLabel("Role").selectOption("Viewer");
  await dialog.getByLabel("Only monitors with these tags").fill("web");
  await dialog.getByLabel("Only monitors with these tags").press("Enter");
  await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await dialog.getByLabel("Confirm password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Add user" }).click();
  const row = page.getByRole("listitem").filter({ hasText: viewer });
  await expect(row).toContainText("Viewer (only web)");

  await logOut(page);
  await logIn(page, viewer);
  await expect(page.getByRole("link", { name: "web" })).toBeVisible();
  await expect(page.getByRole("link", { name: "mail" })).toHaveCount(0);

  await logOut(page);
  await logIn(page, member.email);
  await page.goto("/team");
  await page.getByRole("button", { name: `Actions for ${viewer}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByRole("button", { name: "By name" }).click();
  await dialog.getByRole("textbox", { name: "Only these monitors" }).fill("mail");
  await page.getByRole("option", { name: "mail" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("Viewer (only 1 monitor)");

  await page.getByRole("button", { name: `Actions for ${viewer}` }).click();
  await page.getByRole("menuitem", { name: "Suspend" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await expect(row).toContainText("Suspended");
  await page.getByRole("button", { name: `Actions for ${viewer}` }).click();
  await page.getByRole("menuitem", { name: "End suspension" }).click();
  await expect(row).not.toContainText("Suspended");
});

test("the email and password can be changed, and the new ones are valid", async ({ page, member }) => {
  await page.goto("/settings");
  await page.getByLabel("Email").fill(`new.${member.email}`);
  await page.getByLabel("New password").fill("a newer horse 1");
  await page.getByLabel("Confirm password").fill("a newer horse 1");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Password changed")).toBeVisible();
  await expect(page.getByLabel("New password")).toHaveValue("");
  await logOut(page);
  await logIn(page, `new.${member.email}`, "a newer horse 1");
});

test("the team: add a user who can log in, change, log out everywhere, remove", async ({ page, browser, member, baseURL }) => {
  const bob = `bob.${member.email}`;
  await page.goto("/team");
  await expect(page.getByRole("listitem")).toHaveCount(1);
  await page.getByRole("button", { name: "Add user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill(member.email);
  await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await dialog.getByLabel("Confirm password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Add user" }).click();
  await expect(dialog.getByRole("alert")).toContainText("already in use");
  await dialog.getByLabel("Email").fill(bob);
  await dialog.getByRole("button", { name: "Add user" }).click();
  await expect(page.getByRole("listitem")).toHaveCount(2);

  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, bob);

  await page.getByRole("button", { name: `Actions for ${bob}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Email").fill(`2.${bob}`);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: `2.${bob}` })).toBeVisible();

  await page.getByRole("button", { name: `Actions for 2.${bob}` }).click();
  await page.getByRole("menuitem", { name: "Log out everywhere" }).click();
  await dialog.getByRole("button", { name: "Log out everywhere" }).click();
  await expect(dialog).toBeHidden();
  await other.goto("/team");
  await expect(other).toHaveURL(/\/login/);
  await other.context().close();

  await page.getByRole("button", { name: `Actions for 2.${bob}` }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await expect(dialog.getByRole("button", { name: "Remove" })).toBeDisabled();
  await dialog.getByRole("textbox").fill(`2.${bob}`);
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("listitem")).toHaveCount(1);
});

test("the role of a user is chosen, shown and changed, and decides what the page offers", async ({ page, member }) => {
  const viewer = `viewer.${member.email}`;
  await page.goto("/team");
  await page.getByRole("button", { name: "Add user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill(viewer);
  // The lowest role, unless another is chosen.
  await expect(dialog.getByLabel("Role")).toHaveValue("viewer");
  await expect(dialog).toContainText("changes nothing");
  await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await dialog.getByLabel("Confirm password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Add user" }).click();
  const row = page.getByRole("listitem").filter({ hasText: viewer });
  await expect(row).toContainText("Viewer");

  await page.getByRole("button", { name: `Actions for ${member.email}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Role").selectOption("Admin");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("The team would have no owner");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await logOut(page);
  await logIn(page, viewer);
  await page.goto("/team");
  await expect(page.getByRole("listitem")).toHaveCount(2);
  await expect(page.getByRole("button", { name: "Add user" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /Actions for/ })).toHaveCount(0);
});

test("sessions are listed, and one can be ended from another", async ({ page, browser, member, baseURL }) => {
  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, member.email);
  await page.goto("/settings");
  const sessions = page.getByRole("listitem").filter({ hasText: "127.0.0.1" });
  // One from the sign-up by a script, one from each browser.
  await expect(sessions).toHaveCount(3);
  await expect(sessions.filter({ hasText: "This device" })).toHaveCount(1);
  await expect(sessions.filter({ hasText: "Password" })).toHaveCount(3);
  await expect(page.getByRole("listitem").filter({ hasText: "Current team" })).toContainText("Owner");
  await expect(sessions.filter({ hasText: "Chrome on Linux" })).toHaveCount(2);
  await sessions
    .filter({ hasText: "Chrome on Linux" })
    .getByRole("button", { name: /^Log out Chrome/ })
    .click();
  await expect(sessions).toHaveCount(2);
  await other.goto("/team");
  await expect(other).toHaveURL(/\/login/);
  await other.context().close();
});
