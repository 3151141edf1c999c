/** The audit log: who changed what, filtered, exported and verified. */
import { axeViolations, horizontalOverflow, openPage, switchScheme } from "./axe";
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
