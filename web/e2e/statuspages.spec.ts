/** Status pages: from the first monitor to a published page, its editor, and incidents from the first text to the end. */
import type { Page } from "@playwright/test";
import { axeViolations, horizontalOverflow } from "./axe";
import { expect, test, type Api } from "./service";

interface Listed {
  pageid: string;
  url: string;
  published: boolean;
}

/** Counts the clicks of the user; those that a label passes on to its field are not counted again. */
function countClicks(page: Page) {
  return page.evaluate(() => {
    const counter = window as unknown as { clicks: number };
    counter.clicks = 0;
    addEventListener("pointerdown", () => (counter.clicks += 1), true);
  });
}

interface Saved {
  statuspage: { pageid: string; sections: { components: { componentid: string }[] }[] };
}

/** A page with one component, in English and German. */
async function createPage(api: Api, published = true) {
  const shop = await api.monitor({ name: "shop" });
  await api.report(shop.monitorid, "up");
  const sections = [{ name: "Services", components: [{ name: "Web shop", monitors: [shop.monitorid] }] }];
  const { statuspage } = await api.post<Saved>("statuspage/save", { name: "Acme", published, languages: ["de"], sections });
  return { pageid: statuspage.pageid, componentid: statuspage.sections[0]?.components[0]?.componentid ?? "" };
}

test("a page is published in a few clicks, edited by keyboard, and seen by visitors", async ({ page, browser, member: { api } }) => {
  const shop = await api.monitor({ name: "shop" });
  await api.report(shop.monitorid, "up");
  await api.monitor({ name: "blog" });
  await page.goto("/");
  await countClicks(page);
  await page.getByRole("navigation").getByRole("link", { name: "Status pages" }).click();
  await expect(page.getByText("No status pages yet")).toBeVisible();
  await page.getByRole("link", { name: "New status page" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Acme");
  const preview = page.frameLocator("iframe[title=Preview]");
  await expect(preview.getByRole("main")).toContainText("shop");
  // The warning is about the monitor that has not been checked.
  await expect(page.getByText("No data yet, so visitors see no status.")).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);

  await page.getByRole("switch", { name: "Published" }).check({ force: true });
  await page.getByRole("button", { name: "Create status page" }).click();
  await expect(page.getByRole("link", { name: "Acme", exact: true })).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as { clicks: number }).clicks)).toBeLessThanOrEqual(6);
  const [stored] = (await api.get<{ statuspages: Listed[] }>("statuspages")).statuspages;
  expect(stored?.published).toBe(true);

  await page.getByRole("link", { name: "Acme", exact: true }).click();
  await page.getByRole("button", { name: /^Move shop/ }).press("ArrowUp");
  await page.getByRole("button", { name: "Remove blog" }).click();
  const sent = page.waitForRequest("**/statuspage/save");
  await page.getByRole("button", { name: "Save" }).click();
  expect(Object.keys((await sent).postDataJSON() as object).sort()).toEqual(["pageid", "sections"]);
  await expect(page.getByText("1 component")).toBeVisible();

  const visitor = await browser.newPage({ javaScriptEnabled: false });
  // The page follows the save within two seconds; without a script, it is loaded again.
  await expect(async () => {
    await visitor.goto(stored?.url ?? "");
    await expect(visitor.getByRole("main")).toContainText("shop");
    expect(await visitor.getByRole("main").textContent()).not.toContain("blog");
  }).toPass();
  await visitor.close();
});

test("a page with a component named like a host is published after a warning", async ({ page, member: { api } }) => {
  const shop = await api.monitor({ name: "shop.example.com" });
  const sections = [{ name: "Services", components: [{ name: "shop.example.com", monitors: [shop.monitorid] }] }];
  await api.post<Saved>("statuspage/save", { name: "Acme", published: false, sections });
  await page.goto("/statuspages");
  await page.getByRole("button", { name: "Actions for Acme" }).click();
  await page.getByRole("menuitem", { name: "Publish" }).click();
  const dialog = page.getByRole("dialog", { name: "Publish Acme?" });
  await expect(dialog).toContainText("The name of a component looks like a host name or an address.");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByText("Published Acme.")).toBeVisible();
});

test("an incident is drafted, published, updated and resolved", async ({ page, member: { api } }) => {
  const shop = await api.monitor({ name: "shop" });
  await api.report(shop.monitorid, "up");
  await api.report(shop.monitorid, "down");
  await api.post("statuspage/save", {
    name: "Acme",
    published: true,
    sections: [{ components: [{ name: "Web shop", monitors: [shop.monitorid] }] }],
  });
  await page.goto("/alerts");
  await page.getByRole("main").getByRole("link", { name: "shop" }).first().click();
  await page.getByRole("link", { name: "Write an incident" }).click();
  await expect(page.getByText("Status of Web shop")).toBeVisible();
  await page.getByRole("button", { name: "Save as draft" }).click();
  await expect(page.getByText("This is required.").first()).toBeVisible();
  await page.getByLabel("Title").fill("Checkout fails");
  await page.getByLabel("Text").fill("We are looking into it.");
  await page.getByRole("button", { name: "Save as draft" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Checkout fails");

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Monitors" }).click();
  await expect(page.getByText("“Checkout fails” is a draft that visitors don’t see yet.")).toBeVisible();
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByText("Published Checkout fails.")).toBeVisible();

  await page.getByRole("group", { name: "Status" }).getByRole("button", { name: "Resolved" }).click();
  await page.getByLabel("Text").fill("All is well again.");
  const preview = page.frameLocator("iframe[title=Preview]").getByRole("main");
  await expect(preview).toContainText("All is well again.");
  await expect(preview).toContainText("Checkout fails");
  await page.getByRole("group", { name: "What is shown" }).getByRole("button", { name: "Incident" }).click();
  await expect(preview.getByRole("heading", { level: 1 })).toHaveText("Checkout fails");
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("Update posted.")).toBeVisible();
  await expect(page.getByLabel("Text")).toHaveValue("");
  expect(await axeViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await horizontalOverflow(page)).toBe(0);
  await page.goto("/incidents");
  await expect(page.getByRole("heading", { name: "Past" })).toBeVisible();
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("the parts of the editor save rules, translations, images, domains and embedding", async ({ page, member: { api } }) => {
  const { pageid } = await createPage(api);
  await page.goto(`/statuspage/${pageid}`);
  const part = (name: string) => page.getByRole("group", { name: "Settings of the page" }).getByRole("button", { name }).click();
  const check = async (name: string) => expect.soft(await axeViolations(page), name).toEqual([]);

  await part("Rules");
  await page.getByRole("button", { name: "New rule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("After an outage of").fill("5 s");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expect(dialog.getByText("Choose 30 s to 1 d.")).toBeVisible();
  await dialog.getByLabel("After an outage of").fill("5m");
  await dialog.getByRole("switch", { name: "Templates may name the cause" }).check({ force: true });
  await check("the dialog of a rule");
  await dialog.getByRole("button", { name: "Apply" }).click();
  // The dialog is a form of its own: the page is not saved.
  await expect(page.getByText("After 5 min: all components")).toBeVisible();
  await check("rules");

  await part("Appearance");
  await page.getByLabel("Page: name").fill("Acme auf Deutsch");
  await page.getByLabel("Web shop: name").fill("Laden");
  await page.locator("input[data-kind=logo]").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("no") });
  await expect(page.getByText("Choose a PNG, JPEG, WebP or SVG file.")).toBeVisible();
  const file = { name: "logo.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") };
  await page.locator("input[data-kind=logo]").setInputFiles(file);
  await expect(page.getByText("Image saved.")).toBeVisible();
  await page.getByRole("group", { name: "Logo", exact: true }).getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("Image deleted.")).toBeVisible();
  await check("appearance");

  await part("Access");
  await page.getByLabel("Domain", { exact: true }).fill("https://Status.Acme.example/");
  await page.getByLabel("Domain", { exact: true }).press("Enter");
  await expect(page.getByText("Not saved yet")).toBeVisible();
  await page.getByText("DNS record and proxy").click();
  await expect(page.getByText(/^status\.acme\.example\. CNAME/)).toBeVisible();
  await check("access");

  await part("Badges and embedding");
  await expect(page.getByRole("group", { name: "Frame", exact: true })).toContainText("/embed");
  await expect(page.getByRole("img", { name: "The badge" })).toBeVisible();
  await check("embedding");

  const sent = page.waitForRequest("**/statuspage/save");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const body = (await sent).postDataJSON() as Record<string, unknown>;
  expect(Object.keys(body).sort()).toEqual(["domains", "pageid", "rules", "sections", "texts"]);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Status pages");
  const { statuspage } = await api.get<{ statuspage: Record<string, unknown> }>(`statuspage/${pageid}/get`);
  expect(statuspage).toMatchObject({
    texts: { de: { name: "Acme auf Deutsch" } },
    rules: [{ after: 300, show_cause: true, mode: "draft" }],
    domains: [{ domain: "status.acme.example", primary: true }],
  });
});

test("in a narrow window the preview is a part of the editor, with an outage to try", async ({ page, member: { api } }) => {
  const { pageid } = await createPage(api);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`/statuspage/${pageid}`);
  await expect(page.getByLabel("Heading")).toHaveValue("Services");
  await expect(page.locator("iframe[title=Preview]")).toHaveCount(0);
  await page.getByRole("group", { name: "Settings of the page" }).getByRole("button", { name: "Preview" }).click();
  const preview = page.frameLocator("iframe[title=Preview]");
  await expect(preview.getByRole("main")).toContainText("Web shop");
  await expect(preview.getByRole("main")).not.toContainText("Major outage");
  await page.getByRole("switch", { name: "Simulate an outage" }).check({ force: true });
  await expect(preview.getByRole("main")).toContainText("Major outage");
  expect(await horizontalOverflow(page)).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 1000, height: 800 });
  await expect(page.locator("iframe[title=Preview]")).toBeVisible();
  await expect(page.getByLabel("Heading")).toBeVisible();
  expect(await horizontalOverflow(page)).toBe(0);
});

test("subscribers are listed, added and imported", async ({ page, member: { api } }) => {
  const { pageid } = await createPage(api);
  for (const address of ["ann@example.com", "zoe@example.com"]) {
    await api.post(`statuspage/${pageid}/subscriber/save`, { address, consent: address.startsWith("ann") });
  }
  await page.goto(`/statuspage/${pageid}`);
  await page.getByRole("group", { name: "Settings of the page" }).getByRole("button", { name: "Subscribers" }).click();
  const list = page.getByRole("list", { name: "Subscribers" });
  await expect(list.getByText("ann@example.com")).toBeVisible();
  await expect(list.getByText("zoe@example.com")).toBeVisible();
  await page.getByLabel("Search by address").fill("ann");
  await expect(list.getByText("zoe@example.com")).toHaveCount(0);
  await expect(list.getByText("ann@example.com")).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);

  await page.getByRole("button", { name: "Add subscriber" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email address").fill("bob");
  await dialog.getByRole("button", { name: "Add subscriber" }).click();
  await expect(dialog.getByText("Must be an email address.")).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByLabel("Email address").fill("bob@example.com");
  await dialog.getByRole("button", { name: "Add subscriber" }).click();
  await expect(page.getByText("Email sent. They have to confirm.")).toBeVisible();

  await page.getByRole("button", { name: "Import" }).click();
  await dialog.getByLabel("Email addresses").fill("a@example.com\nANN@example.com, Ann");
  await expect(dialog.getByText("2 addresses found")).toBeVisible();
  await dialog.getByRole("button", { name: "Import 2" }).click();
  await expect(dialog.getByText("Needed, as imported addresses are not asked to confirm.")).toBeVisible();
  await dialog.getByRole("checkbox", { name: /consent of all of them/ }).check();
  await dialog.getByRole("button", { name: "Import 2" }).click();
  await expect(page.getByText("Added 1. Already known: 1. Not accepted: 0.")).toBeVisible();
  const { subscribers } = await api.get<{ subscribers: { address: string; state: string }[] }>(`statuspage/${pageid}/subscribers`);
  expect(Object.fromEntries(subscribers.map(({ address, state }) => [address, state]))).toEqual({
    "ann@example.com": "active",
    "zoe@example.com": "pending",
    "bob@example.com": "pending",
    "a@example.com": "active",
  });
  // Everything happened in dialogs; the page itself is still open, with nothing to save.
  await expect(list).toBeVisible();
});

test("a template is written and used, and its incident gets a postmortem", async ({ page, member: { api } }) => {
  const { componentid } = await createPage(api);
  await page.goto("/incidents");
  await page.getByRole("link", { name: "Templates" }).click();
  await page.getByRole("button", { name: "New template" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Outage");
  await dialog.getByLabel("Title", { exact: true }).fill("Orders fail");
  await dialog.getByLabel("Text", { exact: true }).fill("We are **looking** into it.");
  await dialog.getByRole("textbox", { name: "Components" }).click();
  await page.getByRole("option", { name: "Web shop" }).click();
  await page.keyboard.press("Escape");
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create template" }).click();
  await page.getByRole("button", { name: "Actions for Outage" }).click();
  await page.getByRole("menuitem", { name: "Use" }).click();

  await expect(page.getByLabel("Title", { exact: true })).toHaveValue("Orders fail");
  const preview = page.getByRole("article", { name: "What visitors read" });
  await expect(preview.locator("b").filter({ hasText: "looking" })).toBeVisible();
  await expect(preview).toContainText("Web shop");
  await page.getByText("Translations").click();
  await page.getByLabel("Deutsch: Title").fill("Bestellungen scheitern");
  expect(await axeViolations(page)).toEqual([]);
  await page.getByLabel("Title", { exact: true }).press("Control+Enter");
  await expect(page.getByText("Published Orders fail.")).toBeVisible();
  const { incidents } = await api.get<{ incidents: { texts: object; components: { componentid: string }[] }[] }>("incidents");
  expect(incidents[0]).toMatchObject({ texts: { de: { title: "Bestellungen scheitern" } }, components: [{ componentid }] });

  await page.getByRole("button", { name: "Edit", exact: true }).first().click();
  await dialog.getByLabel("Title", { exact: true }).fill("Orders failed");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders failed");

  await page.getByRole("group", { name: "Status" }).getByRole("button", { name: "Resolved" }).click();
  await page.getByLabel("Text", { exact: true }).fill("- fixed\n- checked");
  const written = page.getByRole("region", { name: "What visitors read" });
  await expect(written.getByRole("listitem")).toHaveText(["fixed", "checked"]);
  await page.getByRole("button", { name: "Post update" }).click();
  await page.getByRole("button", { name: "Write a postmortem" }).click();
  await page.getByLabel("Text", { exact: true }).last().fill("## Cause\nA full disk.");
  await page.getByRole("switch", { name: "Published" }).check({ force: true });
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Postmortem published.")).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
});

test("maintenance repeats, and the key i opens a new incident", async ({ page, member: { api } }) => {
  await createPage(api);
  await page.goto("/incidents");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Incidents");
  await page.keyboard.press("i");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New incident");
  await page.goto("/incident/new?kind=maintenance");
  await page.getByLabel("Title", { exact: true }).fill("Backups");
  await page.getByLabel("Text", { exact: true }).fill("Every week.");
  await page.getByRole("textbox", { name: "Repeat" }).click();
  await page.getByRole("option", { name: "Every week" }).click();
  await page.getByLabel("Remind subscribers").fill("a day");
  await page.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByText("Up to 5 numbers from 1 to 720.")).toBeVisible();
  await page.getByLabel("Remind subscribers").fill("12");
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Backups");
  await expect(page.getByText("Every week", { exact: true })).toBeVisible();
  const { incidents } = await api.get<{ incidents: { repeat: string; remind_hours: number[] }[] }>("incidents");
  expect(incidents[0]).toMatchObject({ repeat: "FREQ=WEEKLY", remind_hours: [12] });
});
