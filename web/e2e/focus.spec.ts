/** By keyboard alone: what a dialog is typed into, and where one is when it closes. */
import type { Page } from "@playwright/test";
import { findings, settled } from "./axe";
import { expect, test } from "./service";

const dialog = (page: Page) => page.getByRole("dialog");

/** The dialog has the focus, and keeps it. */
async function inside(page: Page) {
  await expect(dialog(page)).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null)).toBe(true);
}

async function choose(page: Page, button: string | RegExp, item: string) {
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

test("what is typed after a menu goes into the dialog it opened", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "job" });
  await settled(page, `/monitor/${monitorid}`);
  const more = page.getByRole("button", { name: "More actions" });
  await choose(page, "More actions", "Delete");
  await inside(page);
  // Longer than anything that might want the focus back.
  await expect(page.getByRole("menu")).toHaveCount(0);
  await page.keyboard.type("job");
  await expect(dialog(page).getByRole("textbox")).toHaveValue("job");
  await page.keyboard.press("Escape");
  await expect(dialog(page)).toHaveCount(0);
  await expect(more).toBeFocused();
});

test("a menu gives the focus back when it closes, whatever closed it", async ({ page, member }) => {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  await settled(page, `/notifier/${notifierid}`);
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

test("the team's menus open dialogs that can be typed into", async ({ page, member }) => {
  await settled(page, "/team");
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

test("the help gives the focus back, by key and by menu", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await settled(page, "/");
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

test("staying in a form, tags for several and setting up two steps lose no focus", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await settled(page, "/monitor/new");
  await page.getByLabel("URL").fill("https://example.com");
  const team = page.getByRole("navigation").getByRole("link", { name: "Team" });
  await team.press("Enter");
  await inside(page);
  await page.keyboard.press("Escape");
  await expect(team).toBeFocused();
  await page.getByLabel("URL").fill("");

  await settled(page, "/");
  await page.getByLabel("Select job").check();
  const tags = page.getByRole("button", { name: "Add tags" });
  await tags.press("Enter");
  await inside(page);
  await page.keyboard.type("prod");
  await expect(dialog(page).getByLabel("Tags")).toHaveValue("prod");
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await expect(tags).toBeFocused();

  await settled(page, "/settings");
  const begin = page.getByRole("button", { name: "Set up two-factor authentication" });
  await begin.press("Enter");
  await expect(page.getByLabel("Code from the app")).toBeFocused();
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await expect(begin).toBeFocused();
});

test("logging out everywhere is asked for first", async ({ page, member: _member }) => {
  await settled(page, "/");
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
        await settled(page, path);
        await page.getByRole("button", { name: button }).click();
        await expect(page.getByRole("menu")).toHaveCSS("opacity", "1");
        expect(await findings(page), path).toEqual([]);
      }
    });
  });
}
