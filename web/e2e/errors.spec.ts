/** Error messages and error pages. */
import { openPage } from "./axe";
import { expect, test } from "./service";

test("a page that cannot be loaded has its heading, a message and a retry button", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await page.route(/\/api\/v1\/(monitors|monitor\/.*\/get)/, (route) => route.fulfill({ status: 503, body: "<html>gateway</html>" }));
  for (const path of ["/", `/monitor/${monitorid}`, `/monitor/${monitorid}/edit`]) {
    await page.goto(path);
    const alert = page.getByRole("alert");
    await expect(alert).toContainText("The server couldn’t process the request (HTTP 503).", { timeout: 20_000 });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Monitors");
    // Not at the very edge of the window.
    const [box, main] = [await alert.boundingBox(), await page.getByRole("main").boundingBox()];
    expect((box?.x ?? 0) - (main?.x ?? 0)).toBeGreaterThanOrEqual(12);
    expect(box?.y ?? 0).toBeGreaterThan(40);
  }
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Edit one");
});

test("if the user cannot be loaded, a message says so", async ({ page, member: _member }) => {
  await page.route("**/api/v1/session", (route) => route.fulfill({ status: 503, body: "" }));
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Wakeful" })).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("alert")).toContainText("Try again in a moment.");
});

test("in German, error messages and numbers are German", async ({ page, member }) => {
  const hook = { name: "Bereitschaft", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  const { monitorid } = await member.api.monitor({ name: "Sicherung", notifiers: notifierid });
  await member.api.report(monitorid, "up", { load_time: 0.8 });
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  await openPage(page, `/notifier/${notifierid}`);
  await page.getByRole("button", { name: "Weitere Aktionen" }).click();
  await page.getByRole("menuitem", { name: "Löschen" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Löschen" }).click();
  await expect(page.getByRole("dialog").getByRole("alert")).toHaveText(
    "Der Melder wird noch verwendet von: Sicherung. Entfernen Sie ihn dort zuerst.",
  );
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByText("0,8 ms").first()).toBeVisible();
});

test("an empty form marks the URL as invalid, and not the name that defaults to it", async ({ page, member: _member }) => {
  await openPage(page, "/monitor/new");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByLabel("URL")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("textbox", { name: "Name" })).toHaveAttribute("aria-invalid", "false");
  await page.getByLabel("URL").fill("https://example.com");
  await page.getByLabel("Check every").fill("0");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByText("Enter 1 s to 30 d.")).toBeVisible();
});

test("forms show errors at the field instead of the browser's own bubbles", async ({ page }) => {
  await page.goto("/signup");
  await page.getByLabel("Email").fill("nobody");
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByLabel("Email")).toHaveAttribute("aria-invalid", "true");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 700 } });

  test("the result of a check is scrolled into view", async ({ page, member: _member, service }) => {
    await openPage(page, "/monitor/new");
    await page.getByLabel("URL").fill(service.target.url);
    await page.getByRole("button", { name: "Run the check now" }).click();
    const seen = page.getByRole("main").getByRole("status").filter({ hasText: "200" });
    await expect(seen).toBeInViewport({ ratio: 1 });
    const [box, bar] = [await seen.boundingBox(), await page.getByRole("navigation").getByRole("link").first().boundingBox()];
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(bar?.y ?? 0);
  });
});
