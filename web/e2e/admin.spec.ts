/** The administration of the installation: its state, and what administrators do to users and teams. */
import { execFileSync } from "node:child_process";
import { axeViolations, horizontalOverflow, openPage, switchScheme } from "./axe";
import { binary, expect, logIn, signUp, test, type Member, type Service } from "./service";

/** As the operator does at the command line. */
function grant(service: Service, { email }: Member) {
  execFileSync(binary, ["admin", "grant", email, "--data", service.data], { env: { PATH: process.env.PATH } });
}

test("an administrator suspends, resumes and deletes a user, who is mailed", async ({ page, member, service, request }) => {
  grant(service, member);
  const email = `other-${member.email}`;
  const other = await signUp(request, email);
  await openPage(page, "/");
  await page.getByRole("button", { name: /^Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Administration" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Administration" })).toBeVisible();
  await expect(page.getByText("responds and accepts writes")).toBeVisible();

  await page.getByRole("link", { name: "Users" }).click();
  await page.getByLabel("Search users by email or name").fill(email);
  const row = page.getByRole("listitem").filter({ hasText: email });
  await expect(row).toContainText("password only");
  const act = async (item: string) => {
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  await act("Suspend");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("their API keys are refused");
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await expect(row).toContainText("Suspended");
  await expect(other.get("users/me")).rejects.toThrow();
  await act("Resume");
  await dialog.getByRole("button", { name: "Resume" }).click();
  await expect(row).not.toContainText("Suspended");
  await act("Email a reset link");
  await dialog.getByRole("button", { name: "Email a reset link" }).click();
  await expect(page.getByText(`A link is on its way to ${email}.`)).toBeVisible();
  await act("Delete user");
  await dialog.getByRole("textbox").fill(email.slice(0, 30));
  await dialog.getByRole("button", { name: "Delete user" }).click();
  await expect(page.getByText("Nothing matches.")).toBeVisible();
  const mails = () => service.mails().filter((mail) => mail.includes(`To: ${email}`)).length;
  await expect.poll(mails).toBeGreaterThanOrEqual(5);

  await page.getByRole("link", { name: "Audit log" }).click();
  await expect(page.getByRole("listitem").first()).toContainText(`${member.email} deleted`);
});

test("an administrator suspends a team, which its members cannot change", async ({ page, member, service, request }) => {
  grant(service, member);
  const email = `owner-${member.email}`;
  const other = await signUp(request, email);
  await other.post("team/settings", { name: `Team of ${email}` });
  await openPage(page, "/admin/teams");
  await page.getByLabel("Search teams by name").fill(email);
  const row = page.getByRole("listitem").filter({ hasText: email });
  await row.getByRole("button").click();
  await page.getByRole("menuitem", { name: "Suspend" }).click();
  await expect(page.getByRole("dialog")).toContainText("no longer checked");
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await expect(row).toContainText("Suspended");
  await expect(other.monitor()).rejects.toThrow("suspended");
  await other.get("monitors");
  // Its members see why, and are not offered what would be refused.
  await page.context().clearCookies();
  await logIn(page, email);
  await openPage(page, "/team");
  await expect(page.getByText("This team is suspended.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Add user" })).toHaveCount(0);
  expect(await axeViolations(page)).toEqual([]);
});

test("others are not offered the administration", async ({ page, member, request }) => {
  // The first account of a new installation administers it.
  const email = `second-${member.email}`;
  await signUp(request, email);
  await page.context().clearCookies();
  await logIn(page, email);
  await page.getByRole("button", { name: /^Account menu/ }).click();
  await expect(page.getByRole("menuitem", { name: "Log out", exact: true })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Administration" })).toHaveCount(0);
  await openPage(page, "/admin/users");
  await expect(page.getByRole("heading", { name: "Only for administrators" })).toBeVisible();
});

test("every section is accessible in both schemes and fits a phone", async ({ page, member, service }) => {
  grant(service, member);
  for (const section of ["", "/teams", "/users", "/deliveries", "/settings", "/audit"]) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await openPage(page, `/admin${section}`);
    for (const scheme of ["light", "dark"] as const) {
      await switchScheme(page, scheme);
      expect(await axeViolations(page), section).toEqual([]);
    }
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/admin${section.replace("/", "-")}-1440.png` });
    await page.setViewportSize({ width: 390, height: 800 });
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/admin${section.replace("/", "-")}-390.png` });
    expect(await horizontalOverflow(page), section).toBe(0);
  }
});

test("people download what is stored about them", async ({ page, member }) => {
  await openPage(page, "/settings");
  const downloaded = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download my data" }).click();
  const file = await downloaded;
  expect(file.suggestedFilename()).toBe("wakeful-export.json");
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  const data = JSON.parse(Buffer.concat(chunks).toString()) as { account: { email: string }; audit: unknown[] };
  expect(data.account.email).toBe(member.email);
  expect(data.audit.length).toBeGreaterThan(0);
});
