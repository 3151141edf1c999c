import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Page } from "@playwright/test";
import { axeViolations, openPage, horizontalOverflow, switchScheme } from "./axe";
import { binary, expect, freePort, listens, test as base } from "./service";

const KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

interface Bus {
  url: string;
}

/** A service with its own NATS server, so that probes can connect. */
const test = base.extend<{ probe: (region: string) => Promise<() => Promise<void>> }, { bus: Bus }>({
  bus: [
    // eslint-disable-next-line no-empty-pattern -- Playwright requires a destructuring pattern here
    async ({}, use) => {
      const port = await freePort();
      const debian = "/usr/sbin/nats-server";
      const program = process.env.NATS_BIN ?? (existsSync(debian) ? debian : "nats-server");
      const server = spawn(program, ["--addr", "127.0.0.1", "--port", String(port)], { stdio: "ignore" });
      await expect.poll(() => listens(port)).toBe(true);
      await use({ url: `nats://127.0.0.1:${port}` });
      await end(server);
    },
    { scope: "worker" },
  ],
  settings: [async ({ bus }, use) => use({ WAKEFUL_NATS_URL: bus.url, WAKEFUL_CLUSTER_KEY: KEY }), { scope: "worker" }],
  probe: async ({ bus, member }, use) => {
    const probes: ChildProcess[] = [];
    const live = async (region: string) => {
      const { regions } = await member.api.get<{ regions: { region: string; live: number }[] }>("regions");
      return regions.find((each) => each.region === region)?.live ?? 0;
    };
    await use(async (region) => {
      const probe = spawn(binary, ["probe", "--nats-url", bus.url, "--region", region], {
        stdio: "ignore",
        env: { PATH: process.env.PATH, WAKEFUL_LOG: "warn", WAKEFUL_CLUSTER_KEY: KEY },
      });
      probes.push(probe);
      await expect.poll(() => live(region)).toBe(1);
      return async () => {
        await end(probe);
        await expect.poll(() => live(region)).toBe(0);
      };
    });
    for (const probe of probes) await end(probe);
  },
});

async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

const panel = (page: Page, name: string) => page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });

test("a monitor checked from two regions shows their results in the panel, the list and the chart", async ({
  page,
  member,
  probe,
  service,
}) => {
  const region = `r${process.pid}a`;
  const leave = await probe(region);
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await expect(page.getByRole("textbox", { name: "Down when" })).toHaveCount(0);
  await page.getByRole("textbox", { name: "Check from" }).click();
  await page.getByRole("option", { name: region }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Down when" }).click();
  await page.getByRole("option", { name: "all fail" }).click();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("shop");

  const places = panel(page, "Regions");
  await expect(places).toContainText("Down when all regions report a failure.");
  await expect(places.getByRole("listitem").filter({ hasText: "This server" })).toContainText("Up");
  await expect(places.getByRole("listitem").filter({ hasText: region })).toContainText("Up");
  await page.getByText("Show as a list").click();
  await expect(
    panel(page, "Recent checks")
      .getByText(new RegExp(`^${region} .* m?s$`))
      .first(),
  ).toBeVisible();

  await page.reload();
  await page.getByRole("button", { name: "Regions", exact: true }).click();
  const legend = panel(page, "Response time");
  await expect(legend.getByRole("listitem").filter({ hasText: region })).toBeVisible();
  await expect(legend.getByRole("listitem").filter({ hasText: "This server" })).toBeVisible();
  await expect(page.getByRole("img", { name: /^Response time: / })).toBeVisible();

  const { api } = member;
  const { monitors } = await api.get<{ monitors: { monitorid: string; regions: string[]; quorum: string }[] }>("monitors");
  expect(monitors.map(({ regions, quorum }) => [regions, quorum])).toEqual([[["local", region], "all"]]);

  // The alert shows what each region saw when it was opened.
  service.target.status = 503;
  const check = `monitor/${monitors[0]?.monitorid ?? ""}/check`;
  await expect.poll(async () => (await api.post<{ heartbeat: { status: string } }>(check, {})).heartbeat.status).toBe("down");
  const alerts = async () => (await api.get<{ alerts: { alertid: string }[] }>("alerts")).alerts;
  await expect
    .poll(async () => {
      await api.post(check, {});
      return (await alerts()).length;
    })
    .toBe(1);
  service.target.status = 200;
  await api.post(check, {});
  await page.goto(`/alert/${(await alerts())[0]?.alertid ?? ""}`);
  for (const name of ["This server", region]) {
    await expect(panel(page, "Results by region").getByRole("listitem").filter({ hasText: name })).toContainText("503");
  }

  await leave();
  await page.goto("/");
  await expect(page.getByText(`No probe online in ${region}: 1 monitor is not checked from there`)).toBeVisible();
  await page.getByRole("link", { name: "shop" }).click();
  await expect(places.getByRole("listitem").filter({ hasText: region })).toContainText("No probe online");

  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page.getByRole("textbox", { name: "Down when" })).toHaveValue("all fail");
});

test("axe finds nothing on pages with regions, and they fit on a phone", async ({ page, member, probe, service }) => {
  test.setTimeout(180_000);
  const region = `r${process.pid}b`;
  await probe(region);
  const { monitorid } = await member.api.monitor({
    type: "http",
    name: "shop",
    http: { url: service.target.url },
    regions: ["local", region, "nobody-is-there"],
    quorum: "2",
  });
  await page.setViewportSize({ width: 375, height: 720 });
  for (const colorScheme of ["light", "dark"] as const) {
    await switchScheme(page, colorScheme);
    for (const path of ["/", `/monitor/${monitorid}`, `/monitor/${monitorid}/edit`]) {
      await openPage(page, path);
      if (path === "/") await expect(page.getByText("No probe online in nobody-is-there")).toBeVisible();
      else if (path.endsWith("edit")) await expect(page.getByRole("textbox", { name: "Down when" })).toHaveValue("2 fail");
      else await expect(panel(page, "Regions").getByText("No probe online")).toBeVisible();
      expect(await axeViolations(page), `${path}, ${colorScheme}`).toEqual([]);
      expect(await horizontalOverflow(page), path).toBeLessThanOrEqual(0);
    }
  }
});
