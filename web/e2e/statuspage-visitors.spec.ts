/** Public status pages as visitors see them: without scripts, and checked by axe in every language and color scheme. */
import type { Page } from "@playwright/test";
import { axeViolations, COLOR_RULES, horizontalOverflow } from "./axe";
import { expect, test } from "./service";
import { createPage, emailedPath, languages, subscriptionPaths } from "./statuspage";

/** Opens a page once it shows what was created last; without a script, it has to be loaded again. */
async function openWhole(page: Page, url: string) {
  await expect(async () => {
    await page.goto(url);
    expect(await page.getByRole("main").textContent({ timeout: 2_000 })).toContain("Database upgrade");
  }).toPass();
}

test.describe("without scripts", () => {
  test("visitors read the page, close a section, follow incidents and the history, and choose a language", async ({ browser, member }) => {
    const { url } = await createPage(member.api);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await openWhole(page, url);
    const main = page.getByRole("main");
    await expect(main).toContainText("Slow checkout");
    await expect(main).not.toContainText("shop.internal");

    const phone = main.getByText("Phone support");
    await expect(phone).toBeVisible();
    await main.getByText("Services", { exact: true }).click();
    await expect(phone).toBeHidden();
    await expect(main.getByText("Berlin")).toBeHidden();
    await main.getByText("Offices", { exact: true }).click();
    await expect(main.getByText("Berlin")).toBeVisible();

    await main.getByRole("link", { name: "Slow checkout" }).first().click();
    await expect(page.getByRole("main").locator("strong, b").filter({ hasText: "looking" })).toBeVisible();
    await expect(page.getByRole("main").getByText("two", { exact: true })).toBeVisible();

    await page.goto(`${url}/history`);
    await page.getByRole("link", { name: "Lost orders" }).click();
    await expect(page.getByRole("main")).toContainText("A full disk.");

    await page.goto(url);
    await page.getByRole("link", { name: "العربية" }).click();
    await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
    await page.getByRole("link", { name: "Deutsch" }).click();
    await expect(page.locator("html")).toHaveAttribute("lang", "de");
    await context.close();
  });

  test("a locked page shows nothing until its password is entered", async ({ browser, member }) => {
    const { url, incidentid } = await createPage(member.api, { access: "password", password: "open sesame" });
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    expect((await page.goto(`${url}/incident/${incidentid}`))?.status()).toBe(401);
    await expect(page.locator("body")).not.toContainText("Slow checkout");
    await page.getByLabel("Password").fill("wrong one");
    await page.getByRole("button").first().click();
    await expect(page.getByLabel("Password")).toBeVisible();
    await page.getByLabel("Password").fill("open sesame");
    await page.getByRole("button").first().click();
    await page.goto(url);
    await expect(page.getByRole("main")).toContainText("Slow checkout");
    await context.close();
  });

  test("a visitor subscribes by email, confirms, chooses components and unsubscribes", async ({ browser, member, service }) => {
    const { pageid, url, incidentid } = await createPage(member.api, { languages: [], subscribe: { email: true, choose: true } });
    const email = `visitor${process.pid}@example.com`;
    const subscribers = async () => {
      type Listed = { subscribers: { address: string; state: string; scope: { components: string[] } }[] };
      return (await member.api.get<Listed>(`statuspage/${pageid}/subscribers`)).subscribers;
    };
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await openWhole(page, url);
    await page.getByRole("link", { name: "Subscribe to updates" }).first().click();
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Subscribe to updates" }).click();
    await expect(page.getByRole("main")).toContainText("Check your inbox");
    expect(await subscribers()).toMatchObject([{ address: email, state: "pending" }]);

    // A mail program that opens the link confirms nothing.
    await page.goto(url + (await emailedPath(service, email, "confirm")));
    expect(await subscribers()).toMatchObject([{ state: "pending" }]);
    await page.getByRole("button", { name: "Confirm subscription" }).click();
    await expect(page.getByRole("main")).toContainText("Your subscription has been confirmed.");
    expect(await subscribers()).toMatchObject([{ state: "active" }]);

    await member.api.post(`incident/${incidentid}/update/save`, { status: "identified", body: "A slow disk.", notify: true });
    const manage = url + (await emailedPath(service, email, "manage"));
    await page.goto(manage);
    await page.getByLabel("Berlin").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("status")).toHaveText("Your choices have been saved.");
    expect((await subscribers())[0]?.scope.components).toHaveLength(1);
    await page.goto(manage);
    await expect(page.getByLabel("Berlin")).toBeChecked();

    await page.getByRole("button", { name: "Unsubscribe" }).click();
    await expect(page.getByRole("main")).toContainText("You have been unsubscribed");
    expect(await subscribers()).toMatchObject([{ address: "", state: "unsubscribed" }]);
    expect((await page.goto(manage))?.status()).toBe(404);
    await context.close();
  });
});

/** All rules, at phone width too; in the dark scheme, where only colors differ, the rules about those. */
async function expectAccessible(page: Page, name: string, onPhone = true) {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect.soft(await horizontalOverflow(page), `${name}, ${width} px is wider than the window`).toBe(0);
    if (width < 1280 && !onPhone) continue;
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const rules = colorScheme === "dark" ? COLOR_RULES : undefined;
      expect.soft(await axeViolations(page, rules), `${name}, ${width} px, ${colorScheme}`).toEqual([]);
    }
  }
}

test("axe finds nothing on public pages, in every language and both color schemes", async ({ page, member }) => {
  test.setTimeout(240_000);
  const { url, incidentid, componentid } = await createPage(member.api);
  await openWhole(page, url);
  for (const language of languages) {
    await page.goto(`${url}?lang=${language}`);
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    // The layout of a phone is the same in all languages of a direction.
    await expectAccessible(page, `the page, ${language}`, language === "en" || language === "ar");
  }
  for (const path of [`/incident/${incidentid}`, `/component/${componentid}`, "/history?lang=ar", "/nothing"]) {
    await page.goto(url + path);
    await expectAccessible(page, path);
  }
  const locked = await createPage(member.api, { name: "Locked", access: "password", password: "open sesame" });
  await page.goto(locked.url);
  await expectAccessible(page, "the locked page");
});

test("axe finds nothing in the forms and links of subscribers, nor in the frame for other sites", async ({
  page,
  member,
  service,
  request,
}) => {
  test.setTimeout(120_000);
  const shown = await createPage(member.api, { subscribe: { email: true, choose: true, webhook: true } });
  const { confirm, manage, unsubscribe } = await subscriptionPaths(member.api, service, request, shown);
  for (const path of ["/subscribe", confirm, manage, unsubscribe, "/embed"]) {
    for (const language of ["en", "ar"]) {
      const name = `${path.split("/")[1] ?? ""}, ${language}`;
      expect((await page.goto(`${shown.url}${path}?lang=${language}`))?.status(), name).toBe(200);
      await expectAccessible(page, name, language === "en");
    }
  }
  await page.goto(`${shown.url}/subscribe`);
  await page.getByRole("checkbox", { name: "Incidents" }).uncheck();
  await page.getByRole("checkbox", { name: "Maintenance" }).uncheck();
  await page.getByLabel("Email address").fill("ann@example.com");
  await page.getByRole("button", { name: "Subscribe to updates" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await expectAccessible(page, "the form with an error", false);
});

test("with its script, a page shows a change without a reload, keeps the focus, and asks no other host", async ({
  page,
  member: { api },
}) => {
  const shop = await api.monitor({ name: "shop.internal" });
  await api.report(shop.monitorid, "up", { load_time: 30 });
  const sections = [{ name: "Services", components: [{ name: "Shop", monitors: [shop.monitorid] }, { name: "Phone" }] }];
  const { statuspage } = await api.post<{ statuspage: { url: string } }>("statuspage/save", { name: "Live", published: true, sections });
  const hosts = new Set<string>();
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.clock.install();
  await expect(async () => {
    await page.goto(statuspage.url);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("All Systems Operational", { timeout: 1_000 });
  }).toPass();
  complaints.length = 0;
  // 400% of a window of 1280 px.
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await horizontalOverflow(page)).toBe(0);
  const link = page.getByRole("main").getByRole("link").first();
  await link.focus();
  const href = await link.getAttribute("href");
  await page.evaluate(() => document.documentElement.setAttribute("data-loaded-once", ""));
  await api.report(shop.monitorid, "down", {});
  await expect(async () => {
    await page.clock.fastForward(40_000);
    await expect(page.getByRole("heading", { level: 1 })).not.toHaveText("All Systems Operational", { timeout: 1_000 });
  }).toPass();
  await expect(page.locator("html")).toHaveAttribute("data-loaded-once", "");
  await expect(page.locator("#live")).not.toBeEmpty();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe(href);
  expect([...hosts]).toEqual([new URL(statuspage.url).host]);
  expect(complaints).toEqual([]);
});
