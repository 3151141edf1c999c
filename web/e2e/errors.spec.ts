/** How the page looks and speaks when something fails. */
import { settled } from "./axe";
import { expect, test } from "./service";

test("a view that cannot be read has its heading, a sentence and a way on", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await page.route(/\/api\/v1\/(monitors|monitor\/.*\/get)/, (route) => route.fulfill({ status: 503, body: "<html>gateway</html>" }));
  for (const path of ["/", `/monitor/${monitorid}`, `/monitor/${monitorid}/edit`]) {
    await page.goto(path);
    const alert = page.getByRole("alert");
    await expect(alert).toContainText("The server couldn’t process the request (HTTP 503).", { timeout: 20_000 });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Monitors");
    // Not glued to the edges of the window.
    const [box, main] = [await alert.boundingBox(), await page.getByRole("main").boundingBox()];
    expect((box?.x ?? 0) - (main?.x ?? 0)).toBeGreaterThanOrEqual(12);
    expect(box?.y ?? 0).toBeGreaterThan(40);
  }
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Edit one");
});

test("when not even the user can be read, a whole sentence says so", async ({ page, member: _member }) => {
  await page.route("**/api/v1/users/me", (route) => route.fulfill({ status: 503, body: "" }));
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Wakeful" })).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("alert")).toContainText("Try again in a moment.");
});

test("in German, refusals and numbers are German", async ({ page, member }) => {
  const hook = { name: "Bereitschaft", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  const { monitorid } = await member.api.monitor({ name: "Sicherung", notifiers: notifierid });
  await member.api.report(monitorid, "up", { load_time: 0.8 });
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  await settled(page, `/notifier/${notifierid}`);
  await page.getByRole("button", { name: "Weitere Aktionen" }).click();
  await page.getByRole("menuitem", { name: "Löschen" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Löschen" }).click();
  await expect(page.getByRole("dialog").getByRole("alert")).toHaveText(
    "Der Melder ist noch verknüpft mit: Sicherung. Lösen Sie ihn dort zuerst.",
  );
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByText("0,8 ms").first()).toBeVisible();
});

test("an empty form blames the address, and not the name that would follow from it", async ({ page, member: _member }) => {
  await settled(page, "/monitor/new");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByLabel("URL")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("textbox", { name: "Name" })).toHaveAttribute("aria-invalid", "false");
  await page.getByLabel("URL").fill("https://example.com");
  await page.getByLabel("Check every").fill("0");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByText(/Must be a whole number of seconds from 1/)).toBeVisible();
});

test("forms tell what is wrong at its place, and not in the browser's bubbles", async ({ page }) => {
  await page.goto("/signup");
  await page.getByLabel("Email").fill("nobody");
  await page.getByRole("button", { name: "Sign up" }).click();
  await expect(page.getByLabel("Email")).toHaveAttribute("aria-invalid", "true");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 700 } });

  test("what a check saw is brought into sight", async ({ page, member: _member, service }) => {
    await settled(page, "/monitor/new");
    await page.getByLabel("URL").fill(service.target.url);
    await page.getByRole("button", { name: "Run the check now" }).click();
    const seen = page.getByRole("main").getByRole("status").filter({ hasText: "200" });
    await expect(seen).toBeInViewport({ ratio: 1 });
    const [box, bar] = [await seen.boundingBox(), await page.getByRole("navigation").getByRole("link").first().boundingBox()];
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(bar?.y ?? 0);
  });
});
