/** The wallboard: every monitor on one screen, whatever its size. */
import { axeViolations, horizontalOverflow, openPage } from "./axe";
import { expect, test } from "./service";

for (const [width, height] of [
  [3840, 2160],
  [1440, 900],
] as const) {
  test(`all monitors fit on a screen of ${width} × ${height}, and those that are down are larger`, async ({ page, member }) => {
    await page.setViewportSize({ width, height });
    const names = Array.from({ length: 60 }, (_, index) => `job ${String(index).padStart(2, "0")}`);
    const made = [];
    for (const name of names) made.push(await member.api.monitor({ name }));
    await member.api.report(made[7]?.monitorid ?? "", "down", { message: "disk full" });
    await openPage(page, "/wallboard");
    const board = page.getByRole("list", { name: "Monitors" });
    const tiles = board.getByRole("listitem");
    await expect(tiles).toHaveCount(60);
    await expect(page.getByRole("navigation", { name: "Main" })).toHaveCount(0);
    const broken = tiles.filter({ hasText: "job 07" });
    await expect(broken).toContainText("disk full");
    const box = async (tile: typeof broken) => (await tile.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const [large, small] = [await box(broken), await box(tiles.filter({ hasText: "job 08" }))];
    expect(large.width * large.height).toBeGreaterThan(3 * small.width * small.height);
    const bottoms = await tiles.evaluateAll((all) => all.map((tile) => tile.getBoundingClientRect().bottom));
    expect(Math.max(...bottoms)).toBeLessThanOrEqual(height);
    expect(Math.max(...bottoms), "the screen is used").toBeGreaterThan(height * 0.95);
    expect(await horizontalOverflow(page)).toBe(0);
    expect(await axeViolations(page)).toEqual([]);

    await member.api.report(made[7]?.monitorid ?? "", "up");
    await expect(page.locator("[data-state=down]")).toHaveCount(0);
  });
}

test("the wallboard shows what the list was filtered by, and leads back to it", async ({ page, member }) => {
  await member.api.monitor({ name: "shop", tags: "prod" });
  await member.api.monitor({ name: "lab" });
  await openPage(page, "/?tag=prod");
  await page.getByRole("link", { name: "Wallboard" }).click();
  const tiles = page.getByRole("list", { name: "Monitors" }).getByRole("listitem");
  await expect(tiles).toHaveCount(1);
  await expect(tiles).toContainText("shop");
  await page.getByRole("link", { name: "Back to the list" }).click();
  await expect(page).toHaveURL(/\/\?tag=prod$/);
});
