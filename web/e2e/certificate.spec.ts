import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secureSite, selfSigned, withIssuer } from "./certificate";
import { axeViolations, expectAccessible, openPage, horizontalOverflow, switchScheme } from "./axe";
import { expect, test } from "./service";

const folder = mkdtempSync(join(tmpdir(), "wakeful-e2e."));
const trusted = selfSigned("shop.example", 10);
const roots = join(folder, "roots.pem");
writeFileSync(roots, trusted.cert);
test.use({ settings: { SSL_CERT_FILE: roots } });
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a certificate: names, issuer and days left, and a new one is shown after a check", async ({ page, member }) => {
  const site = await secureSite(trusted);
  const { monitorid } = await member.api.monitor({ type: "http", name: "shop", http: { url: site.url, ignore_tls_error: true } });
  await page.goto(`/monitor/${monitorid}`);
  const panel = page.locator("section").filter({ has: page.getByRole("heading", { name: "Certificate" }) });
  await expect(panel.getByText(/^9 days left$/)).toBeVisible();
  await expect(panel.getByText("127.0.0.1")).toBeVisible();
  await expect(panel.getByText("shop.example")).toBeVisible();
  await expect(panel).not.toContainText("Not trusted");

  site.show(selfSigned("shop.example", 90));
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(panel.getByText("89 days left")).toBeVisible();
  await expect(panel).toContainText("Not trusted: self-signed.");
  site.show(selfSigned("shop.example", -1));
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(panel.getByText("Expired", { exact: true })).toBeVisible();
  await expect(panel).toContainText("Not trusted: expired.");
  site.close();
});

test("a tls monitor shows its certificate, and its alert the chain and why it is not trusted", async ({ page, member: { api } }) => {
  const site = await secureSite(withIssuer("mail.example", 90, "Authority of the example"));
  const { hostname, port } = new URL(site.url);
  const { monitorid } = await api.monitor({ type: "tls", name: "mail", hostname, port, heartbeat_interval: 1, retries: 0 });
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByText(/^Down since [\d:]+\. Certificate not trusted/)).toBeVisible();
  await expect(page.getByText("89 days left")).toBeVisible();
  await page.getByRole("link", { name: "Alert and evidence" }).press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Alert for mail");
  await expect(page.getByText(/^Not trusted: unknown issuer/)).toBeVisible();
  await expect(page.getByRole("list", { name: "Certificate chain" }).getByRole("listitem")).toHaveText([
    /^127\.0\.0\.1, issued by Authority of the example, until \d+ \w+ \d{4}$/,
    /^Authority of the example, issued by Authority of the example, until \d+ \w+ \d{4}$/,
  ]);
  await expect(page.getByText("ec p256")).toBeVisible();
  await expectAccessible(page);
  site.close();
});

test("axe finds nothing on a certificate panel, and it fits on a phone, in German too", async ({ page, member }) => {
  test.setTimeout(180_000);
  const site = await secureSite(selfSigned("a-rather-long-name-of-a-machine.in.a-department.example.com", 400));
  const { monitorid } = await member.api.monitor({ type: "http", name: "shop", http: { url: site.url, ignore_tls_error: true } });
  await page.setViewportSize({ width: 375, height: 720 });
  for (const colorScheme of ["light", "dark"] as const) {
    await switchScheme(page, colorScheme);
    await openPage(page, `/monitor/${monitorid}`);
    await expect(page.getByText("399 days left")).toBeVisible();
    expect(await axeViolations(page), colorScheme).toEqual([]);
    expect(await horizontalOverflow(page)).toBeLessThanOrEqual(0);
  }
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  await page.reload();
  await expect(page.getByText("Noch 399 Tage")).toBeVisible();
  await expect(page.getByText("Nicht vertrauenswürdig: selbst signiert.")).toBeVisible();
  site.close();
});

test("a target without TLS has no certificate to show", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ type: "http", name: "plain", http: { url: service.target.url } });
  await page.goto(`/monitor/${monitorid}`);
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByText(/^Checked: 200/)).toBeVisible();
  await expect(page.getByRole("heading", { name: "Certificate" })).toHaveCount(0);
});
