import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test, type Api } from "../e2e/service";

const FOLDER = "../docs/screenshots";

test.use({ settings: { WAKEFUL_BILLING_ENABLED: "true" } });

/** Name, host, tags and response time in ms. All of them are on loopback. */
const things: [string, string, string, number][] = [
  ["Storefront", "shop", "prod, eu", 84],
  ["Checkout API", "checkout", "prod, eu", 46],
  ["Payments webhook", "pay", "prod", 130],
  ["Search", "search", "prod, us", 18],
  ["Image CDN", "img", "prod", 22],
  ["Login", "id", "prod, eu", 65],
  ["Admin console", "admin", "internal", 210],
  ["Docs", "docs", "", 31],
  ["Invoice export", "invoices", "internal", 340],
  ["Replica", "replica", "prod, us", 12],
  ["Mail relay", "mx", "prod", 27],
  ["Warehouse gateway", "gateway", "internal", 95],
];

/** One server for all of them, distinguished by host name. */
async function startThings() {
  const broken = new Set<string>();
  const server = createServer((request, response) => {
    const host = request.headers.host?.split(".")[0] ?? "";
    const usual = things.find(([, name]) => name === host)?.[3] ?? 20;
    const answer = () => response.writeHead(broken.has(host) ? 503 : 200, { "content-type": "text/plain" }).end("hello");
    setTimeout(answer, usual * (0.85 + 0.4 * Math.random()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { broken, port: (server.address() as AddressInfo).port, close: () => server.close() };
}

async function watchThings(api: Api, port: number, notifiers: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [name, host, tags] of things) {
    const http = { url: `http://${host}.localhost:${port}/` };
    const { monitorid } = await api.monitor({ type: "http", name, tags, http, heartbeat_interval: 60, retries: 0, notifiers });
    ids.set(host, monitorid);
  }
  return ids;
}

test("screenshots", async ({ page, member, service }) => {
  test.setTimeout(240_000);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/monitor/new");
  await page.getByLabel("URL").blur();
  await page.screenshot({ path: `${FOLDER}/new.png` });

  const { broken, port, close } = await startThings();
  const pager = { name: "On-call pager", type: "webhook", webhook: { url: `http://pager.localhost:${port}/` } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", pager);
  const ids = await watchThings(member.api, port, notifierid);
  const row = (name: string) => page.locator("[data-row]").filter({ hasText: name });
  await page.goto("/");
  for (const [name] of things) await expect(row(name)).toHaveAttribute("data-state", "up", { timeout: 30_000 });
  broken.add("img");
  await member.api.post(`monitor/${ids.get("img") ?? ""}/check`, {});
  await member.api.post("monitor/save", { monitorid: ids.get("docs"), isactive: false });
  const script = join(import.meta.dirname, "seed_history.py");
  execFileSync("python3", [script, join(service.data, "wakeful.db"), ...things.map(([name, , , usual]) => `${name}=${usual}`)]);

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/");
    await expect(row("Image CDN")).toHaveAttribute("data-state", "down");
    await expect(row("Warehouse gateway").getByRole("img", { name: "Last 30 checks" })).toBeVisible({ timeout: 30_000 });
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${FOLDER}/dashboard-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`/monitor/${ids.get("img") ?? ""}`);
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
  await member.api.post("membership/save", { plan: "pro", method: "new", ...card });
  await page.goto("/billing");
  await expect(page.getByText("Paid", { exact: true })).toBeVisible();
  await page.screenshot({ path: `${FOLDER}/billing.png`, fullPage: true });

  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  await expect(row("Image CDN")).toContainText("%", { timeout: 30_000 });
  await page.screenshot({ path: `${FOLDER}/phone.png` });
  close();
});
