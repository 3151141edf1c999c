import type { Page } from "@playwright/test";
import { choose, expect, logIn, test } from "./service";

/** What stands under the fields of a form. */
const errors = (page: Page) => page.locator(".mantine-InputWrapper-error, [role=alert]");

test("an interval is understood with its unit, and shown as it was understood", async ({ page, member, service }) => {
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByLabel("Check every").fill("5m");
  await page.getByLabel("Retries").focus();
  await expect(page.getByLabel("Check every")).toHaveValue("5 min");
  await expect(page.getByRole("button", { name: "5 min", exact: true })).toHaveAttribute("aria-pressed", "true");
  await page.getByText("More settings").click();
  await page.getByLabel("Timeout").fill("soon");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(errors(page)).toHaveText("Enter a duration such as 30s, 5m or 1h.");
  await page.getByLabel("Timeout").fill("10 s");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(service.target.url.replace("http://", ""));
  const { monitors } = await member.api.get<{ monitors: { heartbeat_interval: number; timeout: number }[] }>("monitors");
  expect(monitors).toMatchObject([{ heartbeat_interval: 300, timeout: 10 }]);
});

test("the presets of the interval are one stop of the Tab key", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  const preset = (name: string) => page.getByRole("button", { name, exact: true });
  await page.getByLabel("Check every").focus();
  await page.keyboard.press("Tab");
  await expect(preset("1 min")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Check every")).toHaveValue("5 min");
  await page.keyboard.press("Tab");
  await expect(page.getByLabel("Retries")).toBeFocused();
});

test("an unknown scheme is rejected as it was typed", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  for (const typed of ["htp:/foo", "ftp://example.com"]) {
    await page.getByLabel("URL").fill(typed);
    await page.getByRole("button", { name: "Create monitor" }).click();
    await expect(errors(page)).toHaveText("Enter a URL such as https://example.com/path, with http or https.");
    await expect(page.getByLabel("URL")).toHaveValue(typed);
  }
});

test("without a scheme, https is tried and http is offered", async ({ page, member: _member, service }) => {
  const host = service.target.url.replace("http://", "");
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(host);
  await expect(page.getByText(`Will be checked as https://${host}`)).toBeVisible();
  await page.getByRole("button", { name: "Run the check now" }).click();
  await expect(page.getByText(`Checked https://${host}`)).toBeVisible();
  await page.getByRole("button", { name: `Try http://${host}` }).click();
  await expect(page.getByText(`Checked http://${host}`)).toBeVisible();
  await expect(page.getByRole("status").getByText("Up", { exact: true })).toBeVisible();
  await expect(page.getByLabel("URL")).toHaveValue(`http://${host}`);
});

test("a result belongs to what was tested", async ({ page, member: _member, service }) => {
  const outdated = page.getByText("You have changed the form since this check.");
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByRole("button", { name: "Run the check now" }).click();
  await expect(page.getByText(`Checked ${service.target.url}`)).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await expect(outdated).toBeHidden();
  await page.getByLabel("URL").fill(`${service.target.url}/other`);
  await expect(outdated).toBeVisible();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByText("Now monitoring shop. What you changed has not been tested yet.")).toBeVisible();
});

test("on a wide screen, the result stands beside the fields and Save stays in view", async ({ page, member: _member, service }) => {
  await page.setViewportSize({ width: 1440, height: 700 });
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByRole("button", { name: "Run the check now" }).click();
  const result = page.getByText(`Checked ${service.target.url}`);
  await expect(result).toBeVisible();
  const url = await page.getByLabel("URL").boundingBox();
  expect((await result.boundingBox())?.x).toBeGreaterThan((url?.x ?? 0) + (url?.width ?? 0));
  const inView = page.getByRole("button", { name: "Create monitor" });
  await expect(inView).toBeInViewport();
  await page.getByText("More settings").click();
  await page.getByLabel("Inverted").scrollIntoViewIfNeeded();
  await expect(inView).toBeInViewport();
  await expect(result).toBeInViewport();
});

test("the grace period of a push monitor can be cleared", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup", heartbeat_interval: 600, grace: 7 });
  await page.goto(`/monitor/${monitorid}/edit`);
  await expect(page.getByLabel("Grace period")).toHaveValue("7 s");
  await page.getByLabel("Grace period").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("backup");
  const { monitor } = await member.api.get<{ monitor: { grace: number } }>(`monitor/${monitorid}/get`);
  expect(monitor.grace, "a tenth of the interval").toBe(60);
});

test("a request that is refused for a field that the form does not show says why", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  await page.getByText("More settings").click();
  await page.getByLabel("Timeout").fill("20 min");
  // A push monitor has no timeout.
  await choose(page, /^Push/);
  await expect(page.getByLabel("Timeout")).toHaveCount(0);
  await page.getByLabel("Name", { exact: true }).fill("backup");
  await page.getByRole("button", { name: "Create monitor" }).click();
  const alert = page.getByRole("alert");
  await expect(alert).toContainText(/\w+ \w+/);
  await expect(alert).not.toContainText("timeout");
  await expect(page.getByRole("button", { name: "Create monitor" })).toBeEnabled();
});

test("two people edit one monitor: the second sees what the first has changed, and nothing is undone", async ({
  page,
  browser,
  member,
  service,
  baseURL,
}) => {
  const { monitorid } = await member.api.monitor({ type: "http", name: "shop", http: { url: service.target.url } });
  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, member.email);
  for (const each of [page, other]) {
    await each.goto(`/monitor/${monitorid}/edit`);
    await expect(each.getByLabel("Name", { exact: true })).toHaveValue("shop");
  }
  await other.getByLabel("Name", { exact: true }).fill("web shop");
  await other.getByLabel("Check every").fill("10m");
  await other.getByRole("button", { name: "Save" }).click();
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("web shop");
  await other.context().close();

  await page.getByLabel("Name", { exact: true }).fill("store");
  await page.getByLabel("Retries").fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  const notice = page.getByRole("alert");
  await expect(notice).toContainText("Someone else changed this monitor while you were editing it.");
  await expect(notice).toContainText("Check every: now 10 min");
  await expect(notice).toContainText("Name: now web shop, you have store");
  await expect(page.getByLabel("Check every")).toHaveValue("10 min");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("store");
  const { monitor } = await member.api.get<{ monitor: object }>(`monitor/${monitorid}/get`);
  expect(monitor).toMatchObject({ name: "store", heartbeat_interval: 600, retries: 3 });
});

test("a save sends only what was changed", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ type: "http", name: "shop", http: { url: service.target.url } });
  await page.goto(`/monitor/${monitorid}/edit`);
  await page.getByLabel("Name", { exact: true }).fill("store");
  const sent = page.waitForRequest(/monitor\/save/);
  await page.getByRole("button", { name: "Save" }).click();
  expect((await sent).postDataJSON()).toEqual({ monitorid, expected_revision: expect.any(Number) as unknown, name: "store" });
});

test("no field name of the API reaches a form", async ({ page, member: _member }) => {
  const seen: string[] = [];
  const collect = async () => {
    await expect(errors(page).first()).toBeVisible();
    seen.push(...(await errors(page).allInnerTexts()));
  };
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill("https://ann:secret@example.com");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await collect();
  await choose(page, /^Keyword/);
  await page.getByLabel("URL").fill("https://example.com");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await collect();
  for (const type of [/^TCP/, /^DNS/, /^Ping/]) {
    await choose(page, type);
    await page.getByRole("button", { name: "Create monitor" }).click();
    await collect();
  }
  for (const kind of ["email", "slack", "own"]) {
    await page.goto(`/notifier/new?kind=${kind}`);
    await page.getByRole("button", { name: "Create notifier" }).click();
    await collect();
  }
  expect(seen.length).toBeGreaterThan(9);
  expect(seen.filter((text) => /[a-z]_[a-z]|\w\.(url|username|hostname|to)|[a-z][A-Z]/.test(text))).toEqual([]);
  expect(seen).toContain("Leave the user name and password out of the URL. Enter them under More settings, Authentication.");
  expect(seen).toContain("Enter the keyword to look for.");
});
