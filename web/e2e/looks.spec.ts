import { findings, settled, sideways } from "./eyes";
import { expect, test, type Member } from "./service";

const open = ["/login", "/signup", "/lost", "/password#tokenid=x", "/contact"];

/** A team with a little of everything. */
async function furnished(member: Member): Promise<string[]> {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  await member.api.post("notifier/save", { ...hook, name: "old", isactive: false });
  const job = await member.api.monitor({ name: "nightly backup", tags: "prod, eu", notifiers: notifierid });
  await member.api.report(job.monitorid, "up", { message: "done", load_time: 120 });
  await member.api.report(job.monitorid, "down", { message: "disk full" });
  const calm = await member.api.monitor({ name: "calm", tags: "prod" });
  for (let beat = 0; beat < 3; beat++) await member.api.report(calm.monitorid, "up", { load_time: 20 + beat });
  await member.api.monitor({ name: "paused", isactive: false });
  await member.api.monitor({ name: "pending" });
  const pages = ["/", "/?group=tag", "/alerts", "/notifiers", "/notifier/new", "/notifier/new?kind=own", `/notifier/${notifierid}`, "/team", "/settings"];
  pages.push(`/notifier/${notifierid}/edit`, "/billing", "/monitor/new", "/nothing/here");
  return [...pages, `/monitor/${job.monitorid}`, `/monitor/${calm.monitorid}`, `/monitor/${calm.monitorid}/edit`];
}

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`axe finds nothing on the open pages, ${scheme}`, async ({ page }) => {
      for (const path of open) {
        await settled(page, path);
        expect(await findings(page), path).toEqual([]);
      }
    });

    test(`axe finds nothing on the members' pages, ${scheme}`, async ({ page, member }) => {
      test.setTimeout(180_000);
      await settled(page, "/");
      await expect(page.getByRole("heading", { name: "What should we watch?" })).toBeVisible();
      expect(await findings(page), "the empty team").toEqual([]);
      for (const path of await furnished(member)) {
        await settled(page, path);
        expect(await findings(page), path).toEqual([]);
      }
      await page.getByText("More settings").click();
      expect(await findings(page), "the whole form").toEqual([]);
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog")).toBeVisible();
      expect(await findings(page), "the help").toEqual([]);
    });
  });
}

test("nothing on any page breaks the content policy, whatever is opened", async ({ page, member }) => {
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  for (const path of [...(await furnished(member)), "/password#tokenid=x", "/contact"]) await settled(page, path);
  await page.goto("/settings");
  await page.getByRole("button", { name: "Set up two-step login" }).click();
  await expect(page.getByRole("img", { name: /QR code/ })).toBeVisible();
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.goto("/monitor/new");
  await page.getByText("More settings").click();
  await page.getByRole("textbox", { name: "Method" }).click();
  await page.getByRole("option", { name: "POST" }).click();
  // Violations stand in the console as errors, and any error there fails a test.
});

test("the policy forbids inline scripts, and index.html is asked for each time", async ({ page, request }) => {
  const answer = await page.goto("/login");
  const headers = answer?.headers() ?? {};
  expect(headers["content-security-policy"]).toContain("script-src 'self'");
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(headers["cache-control"]).toBe("no-cache");
  const html = (await answer?.text()) ?? "";
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? "";
  for (const coding of ["br", "gzip"]) {
    const asset = await request.get(script, { headers: { "accept-encoding": coding } });
    expect(asset.headers()["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(asset.headers()["content-encoding"]).toBe(coding);
  }
});

test("on a phone nothing sticks out, and everything can be reached", async ({ page, member }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  for (const path of [...open.slice(3), ...(await furnished(member))]) {
    await settled(page, path);
    expect(await sideways(page), `${path} scrolls sideways`).toBeLessThanOrEqual(0);
  }
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Monitors" }).click();
  await expect(page.locator("li[data-row]")).toHaveCount(4);
  await page.getByRole("link", { name: "New monitor" }).click();
  await expect(page.getByRole("heading", { name: "New monitor" })).toBeVisible();
});

test("dark and light by switch, kept across visits; German by switch", async ({ page, member }) => {
  expect(member.email).toContain("@");
  const html = page.locator("html");
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "light");
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.reload();
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Deutsch" }).click();
  await expect(html).toHaveAttribute("lang", "de");
  await expect(page.getByRole("heading", { name: "Was sollen wir beobachten?" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("link", { name: "Einstellungen" })).toBeVisible();
});
