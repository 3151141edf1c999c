/** Widths between phone and desktop: tablets and half-screen windows. */
import { openPage, horizontalOverflow } from "./axe";
import { expect, test } from "./service";

const widths = [721, 768, 834, 901, 1020, 1021, 1024];
const NAME = "a monitor with a name of some length";

test("a row has room for its name at every width", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: NAME, tags: "prod, eu" });
  await member.api.report(monitorid, "up", { load_time: 84 });
  await openPage(page, "/");
  const name = page.locator("[data-row]").getByRole("link", { name: NAME });
  for (const width of [360, ...widths, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(name).toBeVisible();
    await expect.poll(() => name.evaluate((link) => link.parentElement?.clientWidth ?? 0), `${width} px`).toBeGreaterThanOrEqual(120);
    expect(await horizontalOverflow(page), `${width} px`).toBeLessThanOrEqual(0);
  }
});

test("the labels of the summary are not cut off at any width, in both languages", async ({ page, member }) => {
  await member.api.monitor();
  for (const language of ["en", "de"]) {
    await page.evaluate((chosen) => localStorage.setItem("wakeful.language", chosen), language);
    await page.goto("/");
    const words = page.getByRole("group", { name: /Filter by status|Nach Status filtern/ }).locator("button > span:last-child");
    await expect(words).toHaveCount(5);
    for (const width of [360, ...widths]) {
      await page.setViewportSize({ width, height: 800 });
      const broken = await words.evaluateAll((all) =>
        all
          .filter((word) => word.getClientRects().length > 1 || word.scrollWidth > (word.parentElement?.clientWidth ?? 0))
          .map((word) => word.textContent),
      );
      expect(broken, `${width} px, ${language}`).toEqual([]);
    }
  }
});

test("a monitor's name and buttons are not cut off", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: NAME });
  await openPage(page, `/monitor/${monitorid}`);
  const title = page.getByRole("heading", { level: 1 });
  await expect(page.getByRole("heading", { name: "Uptime" })).toBeVisible();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    // One line is 28 px.
    await expect.poll(() => title.evaluate((line) => line.clientHeight), `${width} px`).toBeLessThan(60);
    const cut = await page
      .locator("main .mantine-Button-label")
      .evaluateAll((labels) => labels.filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent));
    expect(cut, `${width} px`).toEqual([]);
    expect(await horizontalOverflow(page), `${width} px`).toBeLessThanOrEqual(0);
  }
});

test("a page that fits its window does not scroll", async ({ page, member: _member }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openPage(page, "/statuspages");
  await expect(page.getByText("No status pages yet")).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBeLessThanOrEqual(0);
});

test("the headers of the list are above their columns", async ({ page, member }) => {
  await member.api.monitor({ name: "calm" });
  await openPage(page, "/");
  const right = async (role: "columnheader" | "cell") => {
    const box = await page.getByRole(role).filter({ hasText: /24 h/ }).boundingBox();
    return (box?.x ?? 0) + (box?.width ?? 0);
  };
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    expect(Math.abs((await right("columnheader")) - (await right("cell"))), `${width} px`).toBeLessThan(1);
  }
});

test("a click on a row's recent checks opens the monitor", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "calm" });
  await member.api.report(monitorid, "up");
  await openPage(page, "/");
  await page.getByRole("img", { name: "Last check passed" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("calm");
});
