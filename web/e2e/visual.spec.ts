import { axeViolations, COLOR_RULES, openPage, horizontalOverflow } from "./axe";
import { createSampleData } from "./sample-data";
import { expect, test } from "./service";

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`axe finds nothing in the dialogs, ${scheme}`, async ({ page, member }) => {
      test.setTimeout(180_000);
      await createSampleData(member);
      const dialog = page.getByRole("dialog");
      const rules = scheme === "dark" ? COLOR_RULES : undefined;
      const look = async (name: string, open: string) => {
        await page.getByRole("button", { name: open, exact: true }).first().click();
        await expect(dialog).toBeVisible();
        await expect(dialog).toHaveCSS("opacity", "1");
        expect(await axeViolations(page, rules), name).toEqual([]);
      };
      const leave = async () => {
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await expect(dialog).toHaveCount(0);
      };
      await openPage(page, "/");
      await page.getByLabel("Select calm").check();
      for (const open of ["Edit", "Delete"]) {
        await look(`${open} for several`, open);
        await leave();
      }
      await openPage(page, "/team");
      await look("a new user", "Add user");
      await openPage(page, "/settings");
      await look("leaving", "Delete my account");
      await leave();
      await look("a new key", "New API key");
      await dialog.getByLabel("Name").fill("deploy script");
      await dialog.getByRole("button", { name: "Create key" }).click();
      await expect(page.getByRole("group", { name: "X-Enc-Key" })).toBeVisible();
      expect(await axeViolations(page, rules), "the key").toEqual([]);
      await page.getByRole("button", { name: "I’ve saved both keys" }).click();
      await page.getByRole("button", { name: "Set up two-factor authentication" }).click();
      await expect(page.getByRole("img", { name: /QR code/ })).toBeVisible();
      expect(await axeViolations(page, rules), "two-factor authentication").toEqual([]);
    });
  });
}

test("what opens on a page does not violate the content security policy", async ({ page, member }) => {
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  // accessibility.spec.ts opens every page.
  await createSampleData(member);
  await page.goto("/settings");
  await page.getByRole("button", { name: "Set up two-factor authentication" }).click();
  await expect(page.getByRole("img", { name: /QR code/ })).toBeVisible();
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.goto("/monitor/new");
  await page.getByText("More settings").click();
  await page.getByRole("textbox", { name: "Method" }).click();
  await page.getByRole("option", { name: "POST" }).click();
  // Violations are logged as errors, and any error in the console fails the test.
});

test("the policy forbids inline scripts, and index.html is revalidated each time", async ({ page, request }) => {
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

test("on a phone everything is reachable", async ({ page, member }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  await createSampleData(member);
  await openPage(page, "/settings");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Monitors" }).click();
  await expect(page.locator("[data-row]")).toHaveCount(4);
  await page.getByRole("link", { name: "New monitor" }).click();
  await expect(page.getByRole("heading", { name: "New monitor" })).toBeVisible();
});

test("on a phone, rows show recent checks, filters are readable, and presets are next to their field", async ({ page, member }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  await createSampleData(member);
  await openPage(page, "/");
  const calm = page.locator("[data-row]").filter({ hasText: "calm" });
  const bars = calm.getByRole("img", { name: "Last 3 checks" });
  await expect(bars).toBeVisible();
  const [inner, outer] = [await bars.boundingBox(), await calm.boundingBox()];
  expect(inner?.width).toBeGreaterThan(200);
  expect((inner?.y ?? 0) + (inner?.height ?? 0)).toBeLessThan((outer?.y ?? 0) + (outer?.height ?? 0));
  // How much wider the selected option is than its field.
  const cut = await page.locator("main select").evaluateAll((fields) =>
    (fields as HTMLSelectElement[]).map((field) => {
      const style = getComputedStyle(field);
      const pen = document.createElement("canvas").getContext("2d");
      if (pen) pen.font = style.font;
      const words = pen?.measureText(field.selectedOptions[0]?.text ?? "").width ?? Infinity;
      return words - (field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    }),
  );
  expect(cut).toHaveLength(3);
  expect(Math.max(...cut)).toBeLessThanOrEqual(0);
  // Not below the bar at the bottom.
  await bars.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await bars.click({ force: true });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("calm");

  await openPage(page, "/monitor/new");
  const top = async (name: string) => (await page.getByLabel(name, { exact: true }).boundingBox())?.y ?? 0;
  const presets = (await page.getByRole("group", { name: "Common intervals" }).boundingBox())?.y ?? 0;
  expect(presets).toBeGreaterThan(await top("Check every"));
  expect(presets).toBeLessThan(await top("Retries"));
});

test("on the narrowest phone, in German, every touch target is large enough", async ({ page, member }) => {
  test.setTimeout(120_000);
  await page.setViewportSize({ width: 320, height: 640 });
  const pages = await createSampleData(member);
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  for (const path of ["/", "/alerts", "/settings", "/monitor/new", pages.at(-2) ?? ""]) {
    await page.goto(path);
    await expect(page.getByRole("link", { name: "Neuer Monitor" }).first()).toBeVisible();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByText("Wird geladen …")).toHaveCount(0);
    expect(await axeViolations(page), path).toEqual([]);
    expect(await horizontalOverflow(page), `${path} scrolls horizontally`).toBeLessThanOrEqual(0);
  }
});

test("every field of a monitor's form has a description", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  await page.getByText("More settings").click();
  await page.getByRole("textbox", { name: "Method" }).click();
  await page.getByRole("option", { name: "POST" }).click();
  await page.getByRole("textbox", { name: "Authentication" }).click();
  await page.getByRole("option", { name: "Basic" }).click();
  await expect(page.getByLabel("User name")).toBeVisible();
  // The search for a type is not a field of the monitor.
  const fields = page.locator("form .mantine-InputWrapper-root:not(:has(input[type=search]))");
  const bare = await fields.evaluateAll((all) =>
    all.filter((field) => !field.querySelector(".mantine-InputWrapper-description")).map((field) => field.textContent),
  );
  expect(await fields.count()).toBeGreaterThan(12);
  expect(bare).toEqual([]);
});

test("the color scheme and the language can be switched and persist", async ({ page, member: _member }) => {
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
  await expect(page.getByRole("heading", { name: "Was sollen wir überwachen?" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("link", { name: "Einstellungen" })).toBeVisible();
});

test("in German, field errors are German, and the English texts are not loaded", async ({ page, member: _member }) => {
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill("ftp://example.com");
  await page.getByLabel("Prüfen alle").fill("9000000");
  await page.getByRole("button", { name: "Monitor erstellen" }).click();
  await expect(page.getByText("Muss eine URL wie https://example.com/pfad sein, mit http oder https.")).toBeVisible();
  await expect(page.getByText("Geben Sie 1 s bis 30 d ein.")).toBeVisible();
  expect(loaded.filter((path) => /\/assets\/de-/.test(path))).toHaveLength(1);
  expect(loaded.filter((path) => /\/assets\/en-/.test(path))).toEqual([]);
});
