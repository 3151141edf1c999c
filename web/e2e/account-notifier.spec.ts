import { axeViolations, openPage } from "./axe";
import { startMailServer, type MailServer } from "./receiver";
import { chooseKind, expect, PASSWORD, signUp, logIn, test as base } from "./service";

/** A service with a mail server of its own. */
const test = base.extend<object, { mailServer: MailServer }>({
  mailServer: [
    // eslint-disable-next-line no-empty-pattern -- Playwright requires a destructuring pattern here
    async ({}, use) => {
      const mailServer = await startMailServer();
      await use(mailServer);
      mailServer.close();
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ mailServer }, use) =>
      use({ WAKEFUL_MAIL_HOST: "127.0.0.1", WAKEFUL_MAIL_PORT: String(mailServer.port), WAKEFUL_MAIL_SECURITY: "none" }),
    { scope: "worker" },
  ],
});

/** The emails to this address so far, oldest first. */
const emailsTo = ({ emails }: MailServer, address: string) => emails.filter((email) => email.includes(`\nTo: ${address}\n`));

/** The path of the newest link that was mailed to this address. */
async function linkTo(server: MailServer, address: string): Promise<string> {
  const links = () => emailsTo(server, address).flatMap((email) => /\/verify#token=\S+/.exec(email) ?? []);
  await expect.poll(() => links().length).toBeGreaterThan(0);
  return links().at(-1) ?? "";
}

test("from the first monitor to the first notification by email in six clicks", async ({ page, member, service, mailServer }) => {
  let clicks = 0;
  const click = async (name: string) => {
    clicks++;
    await page.getByRole("button", { name, exact: true }).click();
  };
  await page.goto("/");
  await page.getByLabel("URL").fill(service.target.url);
  await click("Check");
  await click("Start monitoring");
  await expect(page.getByRole("heading", { name: "Who should be notified?" })).toBeVisible();
  // It is the first choice.
  await expect(page.getByRole("main").getByRole("button").first()).toHaveText(`Email ${member.email}`);
  expect(await axeViolations(page)).toEqual([]);
  await click(`Email ${member.email}`);
  await expect(page).toHaveURL(/\/monitor\/[^/]+$/);
  await expect(page.getByText(`Open the link we sent to ${member.email}.`)).toBeVisible();
  const { notifiers } = await member.api.get<{ notifiers: { notifierid: string; type: string; isdefault: boolean }[] }>("notifiers");
  expect(notifiers.map(({ type, isdefault }) => [type, isdefault])).toEqual([["account", true]]);
  const { monitors } = await member.api.get<{ monitors: { notifiers: object[] }[] }>("monitors");
  expect(monitors.map(({ notifiers }) => notifiers.length)).toEqual([1]);

  clicks++; // the link in the email
  await page.goto(await linkTo(mailServer, member.email));
  await click("Verify address");
  await expect(page.getByRole("main").getByRole("status")).toContainText("Email address verified.");
  await page.goto(`/notifier/${notifiers[0]?.notifierid}`);
  await click("Send test");
  await expect(page.getByRole("main").getByRole("status")).toContainText("Test delivered");
  expect(clicks).toBe(6);
  expect(emailsTo(mailServer, member.email).at(-1)).toMatch(/^Subject: .*test/im);
});

test("an outage before the address is verified is mailed afterwards", async ({ page, member, mailServer }) => {
  const { monitorid } = await member.api.monitor({ name: "nightly" });
  await page.goto(`/monitor/${monitorid}/notify`);
  await page.getByRole("button", { name: `Email ${member.email}` }).click();
  await expect(page).toHaveURL(/\/monitor\/[^/]+$/);
  await member.api.report(monitorid, "down");
  const { notifiers } = await member.api.get<{ notifiers: { notifierid: string }[] }>("notifiers");
  await page.goto(`/notifier/${notifiers[0]?.notifierid}`);
  await expect(page.getByText(`${member.email} isn’t verified yet`)).toBeVisible();
  await expect(page.getByText("The address is not verified yet.").first()).toBeVisible({ timeout: 20_000 });
  expect(await axeViolations(page)).toEqual([]);
  expect(emailsTo(mailServer, member.email).filter((email) => email.includes("nightly"))).toEqual([]);
  await page.getByRole("button", { name: "Email me a link" }).click();
  await expect(page.getByText(`We’ve sent a link to ${member.email}.`)).toBeVisible();
  await page.goto(await linkTo(mailServer, member.email));
  await page.getByRole("button", { name: "Verify address" }).click();
  await expect(page.getByRole("main").getByRole("status")).toContainText("Email address verified.");
  const mail = () => emailsTo(mailServer, member.email).find((email) => /^Subject: \[Down\] nightly/m.test(email));
  await expect.poll(mail).toBeDefined();
  // Its link identifies the recipient.
  const [path = ""] = /\/a\/wkt_[\w-]+/.exec(mail()?.replaceAll("=\n", "") ?? "") ?? [];
  await page.goto(path);
  await expect(page.getByText(`You respond as ${member.email}.`)).toBeVisible();
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await expect(page.getByRole("status")).toHaveText(`Acknowledged by ${member.email}.`);
});

test("the form of a notifier offers the account's own address once", async ({ page, member }) => {
  await openPage(page, "/notifier/new");
  await chooseKind(page, "My account’s email");
  await expect(page.getByLabel("To", { exact: true })).toHaveValue(member.email);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(member.email);
  await openPage(page, "/notifiers");
  await expect(page.getByRole("listitem").filter({ hasText: "My account’s email" })).toContainText(member.email);
  await openPage(page, "/notifier/new");
  const tiles = page.getByRole("list", { name: "Kinds of notifiers" });
  await expect(tiles.getByRole("button", { name: /^Email/ })).toBeVisible();
  await expect(tiles.getByRole("button", { name: /^My account’s email/ })).toHaveCount(0);
});

test("a colleague sees it, but cannot change it", async ({ page, member }) => {
  const saved = await member.api.post<{ notifierid: string }>("notifier/save", { type: "account" });
  const email = `colleague.${member.email}`;
  await member.api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD });
  await page.context().clearCookies();
  await logIn(page, email);
  await openPage(page, `/notifier/${saved.notifierid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(member.email);
  await expect(page.getByRole("button", { name: "Send test" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Edit" })).toHaveCount(0);
  await expect(page.getByText("isn’t verified yet")).toHaveCount(0);
});

for (const [language, action, done, wrong] of [
  ["en", "Verify address", "Email address verified.", "This link is invalid or has expired."],
  ["de", "Adresse bestätigen", "E-Mail-Adresse bestätigt.", "Dieser Link ist ungültig oder abgelaufen."],
] as const) {
  test(`the page of the link works without a login, ${language}`, async ({ page, request, mailServer }) => {
    const email = `verify.${language}${process.pid}@example.com`;
    await signUp(request, email);
    await page.addInitScript((chosen) => localStorage.setItem("wakeful.language", chosen), language);
    const link = await linkTo(mailServer, email);
    await openPage(page, link);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: action }).click();
    await expect(page.getByRole("main").getByRole("status")).toContainText(done);
    expect(await axeViolations(page)).toEqual([]);
    // The link works once.
    await openPage(page, "/contact");
    await openPage(page, link);
    await page.getByRole("button", { name: action }).click();
    await expect(page.getByRole("alert")).toContainText(wrong);
    expect(await axeViolations(page)).toEqual([]);
  });
}

test("settings show that the address is not verified, and send a link", async ({ page, member, mailServer }) => {
  await openPage(page, "/settings");
  await page.getByRole("button", { name: "Email me a link" }).click();
  await expect(page.getByText(`We’ve sent a link to ${member.email}.`)).toBeVisible();
  await expect.poll(() => emailsTo(mailServer, member.email).length).toBe(2);
  await page.goto(await linkTo(mailServer, member.email));
  await page.getByRole("button", { name: "Verify address" }).click();
  await expect(page.getByRole("main").getByRole("status")).toContainText("Email address verified.");
  await openPage(page, "/settings");
  await expect(page.getByText("isn’t verified yet")).toHaveCount(0);
});
