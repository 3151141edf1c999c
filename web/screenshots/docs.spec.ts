import { apiOf, expect, logIn, test } from "../e2e/service";

const FOLDER = "../docs/screenshots";

// The account, the monitors and their history are those of the demo.
const DEMO = { email: "demo@example.com", password: "wakeful demo 1" };

test.use({ flags: ["--demo"], settings: { WAKEFUL_BILLING_ENABLED: "true" } });

test("screenshots", async ({ page, request }) => {
  test.setTimeout(240_000);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await logIn(page, DEMO.email, DEMO.password);
  const api = await apiOf(request, DEMO.email, DEMO.password);
  await page.goto("/monitor/new");
  await page.getByLabel("URL").blur();
  await page.screenshot({ path: `${FOLDER}/new.png` });

  const row = (name: string) => page.locator("[data-row]").filter({ hasText: name });
  const { monitors } = await api.get<{ monitors: { monitorid: string; name: string }[] }>("monitors");
  const broken = monitors.find(({ name }) => name === "Image CDN")?.monitorid ?? "";

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/");
    await expect(row("Image CDN")).toHaveAttribute("data-state", "down");
    await expect(row("Warehouse gateway").getByRole("img", { name: "Last 30 checks" })).toBeVisible({ timeout: 30_000 });
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${FOLDER}/dashboard-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`/monitor/${broken}`);
  await page.getByRole("button", { name: "30 d", exact: true }).click();
  await expect(page.locator("[data-old]")).toHaveCount(0);
  await expect(page.getByRole("row", { name: /^1 year/ })).toContainText("%", { timeout: 30_000 });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${FOLDER}/monitor.png`, fullPage: true });

  await page.goto("/notifier/new?kind=standard");
  await page.getByLabel("Webhook URL").fill("https://hooks.example.com/wakeful");
  await expect(page.getByRole("group", { name: "Preview" })).toContainText("Storefront");
  await page.getByLabel("Webhook URL").blur();
  await page.screenshot({ path: `${FOLDER}/notifier.png` });

  const card = {
    cardholderName: "Ann Example",
    cardNumber: "4242424242424242",
    expiryMonth: 4,
    expiryYear: 2039,
    cvc: "123",
    zipCode: "1",
  };
  await api.post("membership/save", { plan: "pro", method: "new", ...card });
  await page.goto("/billing");
  await expect(page.getByText("Paid", { exact: true })).toBeVisible();
  await page.screenshot({ path: `${FOLDER}/billing.png`, fullPage: true });

  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  await expect(row("Image CDN")).toContainText("%", { timeout: 30_000 });
  await page.screenshot({ path: `${FOLDER}/phone.png` });
});
