import { expect, test, type Api } from "../e2e/service";

const FOLDER = "../docs/screenshots";

const things = [
  ["Storefront", "https://shop.example.com/", "prod, eu"],
  ["Checkout API", "https://api.example.com/checkout", "prod, eu"],
  ["Payments webhook", "https://pay.example.com/hook", "prod"],
  ["Search", "https://search.example.com/health", "prod, us"],
  ["Image CDN", "https://img.example.com/", "prod"],
  ["Login", "https://id.example.com/", "prod, eu"],
  ["Admin console", "https://admin.example.com/", "internal"],
  ["Docs", "https://docs.example.com/", ""],
  ["Primary database", "db-1.example.com", "prod, eu"],
  ["Replica", "db-2.example.com", "prod, us"],
  ["Mail relay", "mx.example.com", "prod"],
  ["Office gateway", "gw.example.com", "internal"],
] as const;

/** A team as it might look on a Tuesday. Nothing is watched for real: the hosts are examples. */
async function furnish(api: Api): Promise<string> {
  let outage = "";
  for (const [index, [name, target, tags]] of things.entries()) {
    const spec = target.startsWith("http") ? { type: "http", http: { url: target } } : { type: "ping", hostname: target };
    const common = { name, tags, heartbeat_interval: 86_400 };
    const { monitorid } = await api.monitor({ ...common, type: "api" });
    const usual = 30 + ((index * 67) % 240);
    for (let beat = 0; beat < 30; beat++) {
      const down = (name === "Image CDN" && beat > 25) || (name === "Replica" && beat > 10 && beat < 14);
      const load_time = Math.round(usual * (1 + 0.25 * Math.sin(beat / 3 + index)));
      await api.report(monitorid, down ? "down" : "up", down ? { message: "503 Service Unavailable" } : { message: "200 OK", load_time });
    }
    const paused = name === "Docs";
    if (name === "Image CDN") outage = monitorid;
    await api.post("monitor/save", { monitorid, ...common, ...spec, isactive: !paused });
  }
  return outage;
}

test("pictures", async ({ page, member }) => {
  test.setTimeout(180_000);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/monitor/new");
  await page.screenshot({ path: `${FOLDER}/new.png` });
  await furnish(member.api);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/");
    await expect(page.getByRole("img", { name: /Last 3\d? heartbeats|Last \d+ heartbeats/ }).first()).toBeVisible();
    await page.screenshot({ path: `${FOLDER}/dashboard-${colorScheme}.png` });
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/");
  await expect(page.locator("li[data-row]").first()).toBeVisible();
  await page.screenshot({ path: `${FOLDER}/phone.png` });
});
