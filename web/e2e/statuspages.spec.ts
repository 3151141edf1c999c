/** Status pages: from the first monitor to a published page, its editor, and incidents from the first text to the end. */
import { axeViolations, horizontalOverflow } from "./axe";
import { expect, test } from "./service";

interface Listed {
  pageid: string;
  url: string;
  published: boolean;
}

test("a page is published in a few clicks, edited by keyboard, and seen by visitors", async ({ page, browser, member: { api } }) => {
  const shop = await api.monitor({ name: "shop" });
  await api.report(shop.monitorid, "up");
  await api.monitor({ name: "blog" });
  await page.goto("/");
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
  await visitor.goto(stored?.url ?? "");
  await expect(visitor.getByRole("main")).toContainText("shop");
  await expect(visitor.getByRole("main")).not.toContainText("blog");
  await visitor.close();
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
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("Update posted.")).toBeVisible();
  await expect(page.getByLabel("Text")).toHaveValue("");
  expect(await axeViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await horizontalOverflow(page)).toBe(0);
  await page.goto("/incidents");
  await expect(page.getByRole("heading", { name: "Past" })).toBeVisible();
});
