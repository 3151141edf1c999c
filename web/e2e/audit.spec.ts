/** The audit log: who changed what, filtered, exported, verified and sent to webhooks. */
import { axeViolations, horizontalOverflow, openPage, switchScheme } from "./axe";
import { startHook } from "./receiver";
import { expect, logIn, PASSWORD, test } from "./service";

test("a change is shown with its fields, and the log is filtered and verified", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "shop" });
  await member.api.post("monitor/save", { monitorid, name: "webshop" });
  await openPage(page, "/team");
  await page.getByRole("link", { name: "Open the audit log" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Audit log" })).toBeVisible();
  const newest = page.getByRole("listitem").first();
  await expect(newest).toContainText(`${member.email} changed the monitor webshop`);
  await newest.getByText("1 field").click();
  await expect(newest.getByRole("definition")).toHaveText("shopwebshop");
  await newest.getByRole("link", { name: "webshop" }).click();
  await expect(page).toHaveURL(new RegExp(`/monitor/${monitorid}$`));
  await page.goBack();

  await page.getByLabel("What the entries are about").selectOption("Team");
  await expect(page.getByRole("listitem")).toHaveCount(1);
  await expect(page.getByRole("listitem")).toContainText("created the team");
  await page.getByLabel("What the entries are about").selectOption("Everything");
  await page.getByLabel("Search names and addresses").fill("no such thing");
  await expect(page.getByText("No entry matches.")).toBeVisible();
  await page.getByLabel("Search names and addresses").fill("webshop");
  await expect(page.getByRole("listitem")).toHaveCount(1);

  await page.getByRole("button", { name: "Verify" }).click();
  await expect(page.getByText(/^All \d+ entries are intact\.$/)).toBeVisible();
  await page.getByRole("button", { name: "Export" }).click();
  const exported = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "CSV" }).click();
  expect((await exported).suggestedFilename()).toBe("audit.csv");
});

test("without the permission, the log is not offered", async ({ page, member }) => {
  const email = `viewer-${member.email}`;
  await member.api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD, role: "viewer" });
  await page.context().clearCookies();
  await logIn(page, email);
  await openPage(page, "/team");
  await expect(page.getByRole("heading", { name: "Members" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Open the audit log" })).toHaveCount(0);
  await openPage(page, "/team/audit");
  await expect(page.getByText("Admin", { exact: false }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Verify" })).toHaveCount(0);
});

test("the log is accessible in both schemes and fits a phone", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "a monitor with a very long name that has to wrap somewhere, on every screen" });
  await member.api.post("monitor/save", { monitorid, name: "x".repeat(120) });
  await openPage(page, "/team/audit");
  await page.getByText("1 field").first().click();
  for (const scheme of ["light", "dark"] as const) {
    await switchScheme(page, scheme);
    expect(await axeViolations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await horizontalOverflow(page)).toBe(0);
});

test("an owner sends the log to a webhook, tests it, turns it off and on, and deletes it", async ({ page, member }) => {
  const hook = await startHook();
  await openPage(page, "/team/audit");
  const panel = page.locator("#streams");
  await expect(panel).toContainText("No streams yet.");
  await panel.getByRole("button", { name: "New stream" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Webhook URL").fill("ftp://siem.example/");
  await dialog.getByRole("button", { name: "Create stream" }).click();
  await expect(dialog.getByLabel("Webhook URL")).toHaveAccessibleDescription(/http/);
  await dialog.getByLabel("Webhook URL").fill(hook.url);
  await dialog.getByRole("button", { name: "Create stream" }).click();
  await expect(dialog.getByRole("group", { name: "Signing secret" })).toHaveText(/^whsec_/);
  await expect(dialog.getByRole("button", { name: "Copy : Signing secret" })).toBeVisible();
  await dialog.getByRole("button", { name: "I’ve saved it" }).click();

  const row = panel.getByRole("listitem");
  await expect(row).toContainText(hook.url);
  await expect(row).toContainText("Delivering");
  await expect.poll(() => hook.bodies.length).toBe(1);
  expect(hook.bodies[0]).toContain('"audit.stream"');
  expect(hook.signatures[0]).toMatch(/^v1,/);
  await expect(page.getByText(`${member.email} created, changed or deleted the stream to`).first()).toBeVisible();

  const choose = async (action: string) => {
    await row.getByRole("button", { name: `Actions for ${hook.url}` }).click();
    await page.getByRole("menuitem", { name: action, exact: true }).click();
  };
  await choose("Send test");
  await expect(page.getByText("Test delivered. Response: noted, thanks")).toBeVisible();
  expect(hook.bodies[1]).toContain('"audit.test"');
  await choose("Turn off");
  await expect(row).toContainText("Off");
  hook.status = 500;
  await choose("Turn on");
  await expect(row).toContainText("Failing since");
  await expect(row).toContainText("500 Internal Server Error: no room");
  await choose("Send test");
  await expect(page.getByText("no room").last()).toBeVisible();

  await choose("Delete");
  await expect(dialog).toContainText("gets no more entries");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(panel).toContainText("No streams yet.");
  hook.close();
});

test("an admin reads the log, but is offered no streams", async ({ page, member }) => {
  const email = `admin-${member.email}`;
  await member.api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD, role: "admin" });
  await page.context().clearCookies();
  await logIn(page, email);
  await openPage(page, "/team/audit");
  await expect(page.getByRole("button", { name: "Verify" })).toBeVisible();
  await expect(page.locator("#streams")).toHaveCount(0);
});

for (const language of ["en", "de"]) {
  test(`axe finds nothing in the streams and their dialog, and they fit a phone, ${language}`, async ({ page, member }) => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate((chosen) => localStorage.setItem("wakeful.language", chosen), language);
    const word = (en: string, de: string) => (language === "en" ? en : de);
    const url = `http://127.0.0.1:9/a-long-path-that-has-to-wrap-somewhere-${"x".repeat(60)}`;
    await member.api.post("audit/stream/save", { url });
    await member.api.post("audit/stream/save", { url: "http://127.0.0.1:9/off", isactive: false });
    await openPage(page, "/team/audit");
    const panel = page.locator("#streams");
    await expect(panel).toContainText(word("Failing since", "Gestört seit"));
    const inspect = async () => {
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 860 });
        for (const scheme of ["light", "dark"] as const) {
          await switchScheme(page, scheme);
          expect(await axeViolations(page)).toEqual([]);
        }
        expect(await horizontalOverflow(page)).toBeLessThanOrEqual(0);
      }
    };
    await inspect();
    await panel.getByRole("button", { name: word("New stream", "Neuer Stream") }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(word("Webhook URL", "Webhook-URL")).fill("http://127.0.0.1:9/new");
    await dialog.getByRole("button", { name: word("Create stream", "Stream anlegen") }).click();
    await expect(dialog.getByRole("group")).toHaveText(/^whsec_/);
    await inspect();
  });
}
