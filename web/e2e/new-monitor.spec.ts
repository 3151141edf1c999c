/** What the form of a monitor shows of its type: the conditions it starts with, a client certificate, a schedule. */
import type { Page } from "@playwright/test";
import { expectAccessible } from "./axe";
import { secureSite, selfSigned } from "./certificate";
import { choose, expect, test } from "./service";

const conditions = (page: Page) => page.getByRole("listitem", { name: /^Condition \d+$/ });

/** The fields of a condition, in order. */
const fieldsOf = (page: Page) =>
  conditions(page)
    .first()
    .getByRole("textbox")
    .evaluateAll((all) => all.map((field) => (field as HTMLInputElement).value));

test("a new monitor starts with conditions that fit its type, and they follow it until they are changed", async ({
  page,
  member: _member,
}) => {
  await page.goto("/monitor/new");
  await expect(conditions(page)).toHaveCount(0);
  await choose(page, /^TLS/);
  expect(await fieldsOf(page)).toEqual(["Certificate", "days left", "is at least", "14", "otherwise a warning"]);
  await choose(page, /^Ping/);
  await expect(conditions(page)).toHaveCount(1);
  expect(await fieldsOf(page)).toEqual(["Packet loss (%)", "is at most", "20", "otherwise a warning"]);
  await page.getByText("More settings").click();
  await expect(page.getByLabel("Echoes per check")).toHaveValue("5");
  // What is inverted cannot have warnings.
  await page.getByLabel("Inverted").press("Space");
  await expect(conditions(page)).toHaveCount(0);
  await page.getByLabel("Inverted").press("Space");
  await expect(conditions(page)).toHaveCount(1);

  // The times of a ping are those of its echoes.
  const own = conditions(page).first();
  await own.getByRole("textbox", { name: "What is compared" }).click();
  await page.getByRole("option", { name: "Response time (ms)" }).click();
  await own.getByRole("textbox", { name: "Which part" }).click();
  await expect(page.getByRole("option")).toHaveText(["total", "DNS", "waiting (TTFB)", "fastest", "slowest"]);
  await page.getByRole("option", { name: "slowest" }).click();
  await own.getByRole("textbox", { name: "Expected value" }).fill("2000");
  await choose(page, /^TCP/);
  await choose(page, /^Ping/);
  expect(await fieldsOf(page)).toEqual(["Response time (ms)", "slowest", "is less than", "2000", "otherwise a warning"]);
  await page.getByRole("textbox", { name: "Host" }).fill("127.0.0.1");
  await page.getByRole("button", { name: "Run the check now" }).click();
  await expect(page.getByRole("list", { name: "Result of each condition" })).toHaveText(/^Holds\. Response time \(ms\) slowest: [\d.]+$/);
});

test("a tls monitor presents a client certificate, which can be replaced and removed", async ({ page, member: { api } }) => {
  const [site, client] = [await secureSite(selfSigned("mail.example", 90)), selfSigned("probe.example", 90)];
  const { hostname, port } = new URL(site.url);
  await page.goto("/monitor/new?type=tls");
  await page.getByRole("textbox", { name: "Host" }).fill(hostname);
  await page.getByRole("textbox", { name: "Port" }).fill(port);
  await page.getByText("More settings").click();
  await page.getByLabel("Client certificate", { exact: true }).fill(client.cert);
  await page.getByLabel("Key of the client certificate").fill(selfSigned("other.example", 90).key);
  await page.getByText("More settings").click();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByLabel("Key of the client certificate")).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Key of the client certificate").fill(client.key);
  await page.getByLabel("Accept any certificate").press("Space");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`${hostname}:${port}`);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const stored = async () => {
    const { monitor } = await api.get<{ monitor: { tls: { client_certificate: { subject: string } | null } } }>(`monitor/${id}/get`);
    return monitor.tls.client_certificate?.subject;
  };
  expect(await stored()).toContain("probe.example");

  await page.goto(`/monitor/${id}/edit`);
  await page.getByText("More settings").click();
  await expect(page.getByText(/^Saved: .*probe\.example/)).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("mail");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("mail");
  expect(await stored()).toContain("probe.example");
  await page.goto(`/monitor/${id}/edit`);
  await page.getByText("More settings").click();
  await page.getByLabel("Remove the client certificate").press("Space");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("mail");
  expect(await stored()).toBeUndefined();
  site.close();
});

test("a schedule shows its next times, in its own time zone and in the reader's", async ({ page, member: _member }) => {
  await page.goto("/monitor/new?type=api");
  await page.getByLabel("Schedule", { exact: true }).fill("30 2 * * *");
  await page.getByLabel("Time zone").fill("America/New_York");
  const times = page.getByRole("group", { name: "The next times" });
  await expect(times.getByRole("columnheader")).toHaveText(["Time in America/New_York", "Your time (Europe/Berlin)"]);
  await expect(times.getByRole("row")).toHaveCount(6);
  for (const own of await times.getByRole("row").locator("td:first-child").allTextContents()) expect(own).toMatch(/02:30$/);
  for (const mine of await times.getByRole("row").locator("td:last-child").allTextContents()) expect(mine).toMatch(/0[78]:30$/);
  // It may have to be scrolled on a phone.
  await times.focus();
  await expect(times).toBeFocused();
  await expectAccessible(page);
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await expect(times.getByRole("columnheader")).toHaveText(["Time in Europe/Berlin"]);
  await page.getByLabel("Schedule", { exact: true }).fill("Mon..Fri 04:15");
  await expect(times.getByRole("row").nth(1)).toContainText("04:15");
  await page.getByLabel("Schedule", { exact: true }).fill("every now and then");
  await expect(times).toHaveCount(0);
  await expect(page.getByRole("status").filter({ hasText: /cron|OnCalendar/ })).toBeVisible();
});
