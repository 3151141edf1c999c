import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test, type Api } from "../e2e/service";

const FOLDER = "../docs/screenshots";

/** Name, host, tags and how long it takes to answer. All of them live on this machine. */
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

/** One server for all of them, told apart by the name they are called. */
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

async function watchThings(api: Api, port: number): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [name, host, tags] of things) {
    const http = { url: `http://${host}.localhost:${port}/` };
    const { monitorid } = await api.monitor({ type: "http", name, tags, http, heartbeat_interval: 1, retry_interval: 1, retries: 0 });
    ids.set(host, monitorid);
  }
  return ids;
}

test("pictures", async ({ page, member }) => {
  test.setTimeout(180_000);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/monitor/new");
  await page.getByLabel("Address").blur();
  await page.screenshot({ path: `${FOLDER}/new.png` });

  const { broken, port, close } = await startThings();
  const ids = await watchThings(member.api, port);
  await page.goto("/");
  const row = (name: string) => page.locator("li[data-row]").filter({ hasText: name });
  const beats = (name: string, count: number) =>
    expect(row(name).getByRole("img", { name: `Last ${count} heartbeats` })).toBeVisible({ timeout: 60_000 });
  await beats("Replica", 10);
  broken.add("replica");
  await beats("Replica", 13);
  broken.delete("replica");
  await beats("Replica", 26);
  await member.api.post("monitor/save", { monitorid: ids.get("docs"), isactive: false });
  broken.add("img");
  await beats("Image CDN", 30);
  await expect(row("Image CDN")).toHaveAttribute("data-state", "down");

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/");
    await beats("Warehouse gateway", 30);
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${FOLDER}/dashboard-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`/monitor/${ids.get("replica") ?? ""}`);
  await expect(page.locator("canvas")).toBeVisible();
  await page.screenshot({ path: `${FOLDER}/monitor.png`, fullPage: true });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  await expect(row("Image CDN")).toBeVisible();
  await page.screenshot({ path: `${FOLDER}/phone.png` });
  close();
});
