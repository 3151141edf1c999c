/** Sessions that end, lost networks, deleted monitors and outdated files. */
import { openPage } from "./axe";
import { expect, PASSWORD, test } from "./service";

test("if the session ends over a form, a login dialog opens and nothing is lost", async ({ page, context, member }) => {
  await member.api.monitor({ name: "other" });
  await openPage(page, "/monitor/new?type=ping");
  await page.getByRole("textbox", { name: "Host" }).fill("127.0.0.1");
  await page.getByRole("textbox", { name: "Name" }).fill("the router");
  await context.clearCookies();
  await page.getByRole("button", { name: "Create monitor" }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await expect(dialog).toContainText(member.email);
  await expect(page.getByText(/Bearer/)).toHaveCount(0);
  await expect(dialog.getByLabel("Password", { exact: true })).toBeFocused();
  await page.keyboard.type("something else");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("alert")).toContainText("incorrect");
  await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await dialog.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("textbox", { name: "Name" })).toHaveValue("the router");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("the router");
});

test("a form can be discarded to log in as someone else when the session has ended", async ({ page, context, member: _member }) => {
  await openPage(page, "/monitor/new");
  await page.getByLabel("URL").fill("https://example.com");
  await context.clearCookies();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard and log in as someone else" }).click();
  await expect(page.getByText("Your session has ended. Log in again.")).toBeVisible();
});

test("without unsaved changes, the login page opens, says why, and leads back", async ({ page, context, member, service }) => {
  const { monitorid } = await member.api.monitor({ name: "site", type: "http", http: { url: service.target.url } });
  await openPage(page, `/monitor/${monitorid}`);
  // Not before: a request in the background would find it out first.
  await page.route(`**/monitor/${monitorid}/check`, async (route) => {
    await context.clearCookies();
    const headers = { ...(await route.request().allHeaders()), cookie: "" };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByText("Your session has ended. Log in again.")).toBeVisible();
  await page.getByLabel("Email").fill(member.email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("site");
});

test("logging out everywhere reaches an open form at once", async ({ page, member }) => {
  await openPage(page, "/monitor/new");
  await page.getByLabel("URL").fill("https://example.com");
  await member.api.post("logoutall", {});
  await expect(page.getByRole("dialog", { name: "Your session has ended" })).toBeVisible({ timeout: 5_000 });
  await expect(page.getByLabel("URL")).toHaveValue("https://example.com");
});

test("a monitor deleted elsewhere disappears", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "job" });
  await openPage(page, `/monitor/${monitorid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("job");
  await member.api.remove(monitorid);
  await expect(page.getByText("Page not found")).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "Monitors" }).click();
  await expect(page.getByRole("heading", { name: "What should we watch?" })).toBeVisible();
});

test("a page that cannot load offline says so, and opens when the network is back", async ({ page, context, member }) => {
  await member.api.monitor({ name: "job" });
  await openPage(page, "/");
  await context.setOffline(true);
  await expect(page.getByText("You’re offline. What you see may be out of date.")).toBeVisible();
  await expect(page.getByText("Live", { exact: true })).toHaveCount(0);
  await page.getByRole("navigation").getByRole("link", { name: "Team" }).click();
  await expect(page.getByText("This page couldn’t load")).toBeVisible();
  await expect(page.getByText("Something went wrong")).toHaveCount(0);
  await context.setOffline(false);
  await expect(page.getByRole("heading", { name: "Members" })).toBeVisible();
});

test("a page whose files were removed by an update says that there is a new version", async ({ page, member }) => {
  await member.api.monitor({ name: "job" });
  await openPage(page, "/");
  const isHome = (url: URL) => url.pathname === "/";
  await page.route(isHome, (route) =>
    route.fulfill({ contentType: "text/html", body: '<script type="module" src="/assets/new.js"></script>' }),
  );
  await page.route("**/assets/**", (route) => route.fulfill({ status: 404, body: "" }));
  for (const name of ["Team", "Settings", "Alerts"]) {
    await page.getByRole("navigation").getByRole("link", { name }).click();
    await expect(page.getByText("Wakeful has been updated")).toBeVisible();
  }
  await page.unroute("**/assets/**");
  await page.getByRole("button", { name: "Reload the page" }).click();
  await expect(page.getByRole("heading", { name: "Alerts" })).toBeVisible();
});
