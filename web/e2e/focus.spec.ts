/** Keyboard focus: in dialogs, after they close, and when the route changes. */
import type { Page } from "@playwright/test";
import { axeViolations, openPage } from "./axe";
import { expect, test } from "./service";

const dialog = (page: Page) => page.getByRole("dialog");

/** The focus is inside the dialog. */
async function inside(page: Page) {
  await expect(dialog(page)).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null)).toBe(true);
}

async function choose(page: Page, button: string | RegExp, item: string) {
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** The focus is inside the page, not on the document's body. */
async function onPage(page: Page) {
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
}

test("every change of the route moves the focus to the page and announces its title", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await openPage(page, "/");
  const announced = page.locator("[data-announced]");
  await expect(announced).toHaveText("");
  await page.getByRole("link", { name: "job" }).click();
  await expect(announced).toHaveText("job · Wakeful");
  await onPage(page);
  await page.getByRole("link", { name: "Edit" }).click();
  await expect(announced).toHaveText("Edit job · Wakeful");
  await onPage(page);
  await page.goBack();
  await expect(announced).toHaveText("job · Wakeful");
  await onPage(page);
  const { groupname } = await member.api.get<{ groupname: string }>("users/me");
  for (const name of ["Alerts", "Notifiers", "Team", "Settings", "Monitors"]) {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).press("Enter");
    await expect(announced).toHaveText(`${name === "Team" ? groupname : name} · Wakeful`);
    await onPage(page);
  }
});

test("the name of a control contains its visible text", async ({ page, member }) => {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  const { monitorid } = await member.api.monitor({ name: "backup", notifiers: notifierid });
  await member.api.report(monitorid, "down", { message: "disk full" });
  for (const path of ["/alerts", `/notifier/${notifierid}`]) {
    await openPage(page, path);
    await expect(page.getByRole("button", { name: "Retry now: message about backup" }).first()).toBeVisible();
    const wrong = await page.evaluate(() => {
      const controls = Array.from(document.querySelectorAll<HTMLElement>("a[aria-label], button[aria-label]"));
      const visible = (control: HTMLElement) => {
        const copy = control.cloneNode(true) as HTMLElement;
        copy.querySelectorAll("[aria-hidden=true]").forEach((hidden) => hidden.remove());
        return copy.textContent.trim().toLowerCase();
      };
      return controls.filter((one) => !one.ariaLabel?.toLowerCase().includes(visible(one))).map((one) => one.outerHTML);
    });
    expect(wrong, path).toEqual([]);
  }
});

test("a dialog opened from a menu takes the keyboard input", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "job" });
  await openPage(page, `/monitor/${monitorid}`);
  const more = page.getByRole("button", { name: "More actions" });
  await choose(page, "More actions", "Delete");
  await inside(page);
  // By now, the menu would have taken the focus back.
  await expect(page.getByRole("menu")).toHaveCount(0);
  await page.keyboard.type("job");
  await expect(dialog(page).getByRole("textbox")).toHaveValue("job");
  await page.keyboard.press("Escape");
  await expect(dialog(page)).toHaveCount(0);
  await expect(more).toBeFocused();
});

test("a menu returns the focus when it closes, whatever closed it", async ({ page, member }) => {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  await openPage(page, `/notifier/${notifierid}`);
  const more = page.getByRole("button", { name: "More actions" });
  await more.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Turn off" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(more).toBeFocused();
  await more.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Turn off" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByText("This notifier is off")).toBeVisible();
  await expect(more).toBeFocused();
  await choose(page, "More actions", "Delete");
  await inside(page);
  await page.keyboard.press("Escape");
  await expect(more).toBeFocused();
});

test("dialogs opened from the team's menus take the keyboard input", async ({ page, member }) => {
  await openPage(page, "/team");
  await choose(page, `Actions for ${member.email}`, "Remove");
  await inside(page);
  await expect(page.getByRole("menu")).toHaveCount(0);
  await page.keyboard.type("me");
  await expect(dialog(page).getByRole("textbox")).toHaveValue("me");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: `Actions for ${member.email}` })).toBeFocused();
  const add = page.getByRole("button", { name: "Add user" });
  await add.press("Enter");
  await inside(page);
  await page.keyboard.type("new@example.com");
  await expect(dialog(page).getByLabel("Email")).toHaveValue("new@example.com");
  await page.keyboard.press("Escape");
  await expect(add).toBeFocused();
});

test("the list of shortcuts returns the focus, whether opened by key or by menu", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await openPage(page, "/");
  const link = page.getByRole("link", { name: "Alerts" });
  await link.focus();
  await page.keyboard.press("?");
  await inside(page);
  await page.keyboard.press("Escape");
  await expect(link).toBeFocused();
  await choose(page, /Account menu/, "Keyboard shortcuts ?");
  await inside(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: /Account menu/ })).toBeFocused();
});

test("keep editing, bulk editing and two-factor setup do not lose the focus", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await openPage(page, "/monitor/new");
  await page.getByLabel("URL").fill("https://example.com");
  const team = page.getByRole("navigation").getByRole("link", { name: "Team" });
  await team.press("Enter");
  await inside(page);
  await page.keyboard.press("Escape");
  await expect(team).toBeFocused();
  await page.getByLabel("URL").fill("");

  await openPage(page, "/");
  await page.getByLabel("Select job").check();
  const edit = page.getByRole("toolbar").getByRole("button", { name: "Edit" });
  await edit.press("Enter");
  await inside(page);
  await page.keyboard.press("Tab");
  await page.keyboard.type("3");
  await expect(dialog(page).getByLabel("Retries")).toHaveValue("3");
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await expect(edit).toBeFocused();

  await openPage(page, "/settings");
  const begin = page.getByRole("button", { name: "Set up two-factor authentication" });
  await begin.press("Enter");
  await expect(page.getByLabel("Code from the app")).toBeFocused();
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await expect(begin).toBeFocused();
});

test("logging out everywhere requires confirmation", async ({ page, member: _member }) => {
  await openPage(page, "/");
  await choose(page, /Account menu/, "Log out everywhere");
  await inside(page);
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("button", { name: /Account menu/ })).toBeFocused();
  await choose(page, /Account menu/, "Log out everywhere");
  await dialog(page).getByRole("button", { name: "Log out everywhere" }).click();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
});

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`axe finds nothing in open menus, ${scheme}`, async ({ page, member }) => {
      const { monitorid } = await member.api.monitor({ name: "job" });
      for (const [path, button] of [
        [`/monitor/${monitorid}`, "More actions"],
        ["/team", /^Actions for/],
        ["/alerts", "Monthly report"],
        ["/", /Account menu/],
      ] as const) {
        await openPage(page, path);
        await page.getByRole("button", { name: button }).click();
        await expect(page.getByRole("menu")).toHaveCSS("opacity", "1");
        expect(await axeViolations(page), path).toEqual([]);
      }
    });
  });
}
