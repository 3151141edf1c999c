/** Monitors whose checks cannot run: a state of its own, with the reason. */
import { openPage } from "./axe";
import { expect, test } from "./service";

test.use({ settings: { WAKEFUL_NETWORK_EGRESS: "public" } });

test("a monitor that the network policy forbids says why, in the list and on its page", async ({ page, member, service }) => {
  const http = { url: service.target.url, accepted_status_codes: "200-299" };
  const { monitorid } = await member.api.monitor({ type: "http", name: "inside", http, heartbeat_interval: 5 });
  await openPage(page, "/");
  const row = page.locator("[data-row]").filter({ hasText: "inside" });
  await expect(row).toHaveAttribute("data-state", "blocked", { timeout: 20_000 });
  await expect(row).toContainText("network policy");
  await expect(row).toContainText("never");
  await page.getByRole("button", { name: "1 Can’t check" }).click();
  await expect(page).toHaveURL(/status=blocked/);
  await expect(row).toBeVisible();
  await openPage(page, `/monitor/${monitorid}`);
  await expect(page.getByText(/^Checks can’t run at the moment: .*network policy/)).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText("Can’t check", { exact: true }).first()).toBeVisible();
});
