/** The dashboard's table: its order, selection, row actions and keyboard shortcuts. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { openPage } from "./axe";
import { expect, logIn, logOut, signUp, test } from "./service";

const current = (page: Page) => page.locator("[data-row][data-current]");
const rows = (page: Page) => page.locator("[data-row]");
const row = (page: Page, name: string) => rows(page).filter({ has: select(page, name) });
const names = (page: Page) => rows(page).getByRole("link").allTextContents();
const bar = (page: Page) => page.getByRole("toolbar", { name: "Selected monitors" });
const select = (page: Page, name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true });

test("selecting the first monitor moves nothing", async ({ page, member }) => {
  for (const name of ["one", "two", "three"]) await member.api.monitor({ name });
  await openPage(page, "/");
  const tops = () => rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().top));
  const before = await tops();
  await select(page, "two").check();
  await expect(bar(page)).toContainText("1 selected");
  expect(await tops()).toEqual(before);
});

test("a click with Shift selects a range, and the header selects everything that matches", async ({ page, member }) => {
  for (const name of ["a1", "a2", "a3", "a4", "b1"]) await member.api.monitor({ name });
  await openPage(page, "/?sort=name");
  await select(page, "a2").click();
  await select(page, "a4").click({ modifiers: ["Shift"] });
  await expect(bar(page)).toContainText("3 selected");
  await select(page, "a3").click();
  await select(page, "b1").click({ modifiers: ["Shift"] });
  await expect(bar(page)).toContainText("4 selected");
  await expect(select(page, "a1")).not.toBeChecked();

  await page.getByRole("searchbox").fill("a");
  await expect(rows(page)).toHaveCount(4);
  await expect(bar(page)).toContainText("4 selected (1 hidden by filters)");
  const all = page.getByRole("columnheader").getByRole("checkbox", { name: "Select all" });
  await expect(all).toBeChecked({ indeterminate: true });
  await all.click();
  await expect(bar(page)).toContainText("5 selected (1 hidden by filters)");
  await expect(all).toBeChecked();
  await all.click();
  await expect(bar(page)).toContainText("1 selected (hidden by filters)");
});

test("the keyboard selects a range too", async ({ page, member }) => {
  for (const name of ["a1", "a2", "a3"]) await member.api.monitor({ name });
  await openPage(page, "/?sort=name");
  await expect(rows(page)).toHaveCount(3);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Shift+X");
  await expect(bar(page)).toContainText("3 selected");
});

/** A server on loopback that takes as many ms to respond as the path says. */
async function startSlowServer() {
  const server = createServer((request, response) => {
    setTimeout(() => response.writeHead(200).end("hello"), Number(request.url?.slice(1)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

test("a column header sorts the list, and again reverses it", async ({ page, member }) => {
  const server = await startSlowServer();
  for (const [name, delay] of [
    ["medium", 500],
    ["slow", 1500],
    ["fast", 0],
  ] as const) {
    const { monitorid } = await member.api.monitor({ name, type: "http", http: { url: `${server.url}/${delay}` } });
    await member.api.post(`monitor/${monitorid}/check`, {});
  }
  // The duration that a job reports is not a response time.
  const { monitorid } = await member.api.monitor({ name: "waiting" });
  await member.api.report(monitorid, "up", { load_time: 3000 });
  await openPage(page, "/");
  await expect(row(page, "waiting")).toContainText("Push");
  await expect(row(page, "waiting")).not.toContainText("3.00 s");
  const header = (name: string) => page.getByRole("columnheader", { name });
  await header("Name").getByRole("button").click();
  await expect(header("Name")).toHaveAttribute("aria-sort", "ascending");
  await expect.poll(() => names(page)).toEqual(["fast", "medium", "slow", "waiting"]);
  await header("Name").getByRole("button").click();
  await expect(header("Name")).toHaveAttribute("aria-sort", "descending");
  await expect.poll(() => names(page)).toEqual(["waiting", "slow", "medium", "fast"]);
  await header("Response time").getByRole("button").click();
  await expect(header("Response time")).toHaveAttribute("aria-sort", "descending");
  await expect(header("Name")).not.toHaveAttribute("aria-sort");
  await expect.poll(() => names(page)).toEqual(["slow", "medium", "fast", "waiting"]);
  await header("Response time").getByRole("button").click();
  // A monitor without a response time is last in either direction.
  await expect.poll(() => names(page)).toEqual(["fast", "medium", "slow", "waiting"]);
  await page.reload();
  await expect.poll(() => names(page)).toEqual(["fast", "medium", "slow", "waiting"]);
  server.close();
});

test("a row's menu pauses, edits and deletes the monitor", async ({ page, member }) => {
  for (const name of ["one", "two"]) await member.api.monitor({ name });
  await openPage(page, "/?sort=name");
  const actions = page.getByRole("button", { name: "Actions for one" });
  await actions.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Pause" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(row(page, "one")).toHaveAttribute("data-state", "paused");
  await expect(actions).toBeFocused();
  await actions.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("one");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole("button", { name: "Actions for two" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Edit two");
});

test("the list is a table whose rows are counted although few are rendered", async ({ page, member }) => {
  const created = Array.from({ length: 60 }, (_, index) => `job ${String(index).padStart(2, "0")}`);
  for (const name of created) await member.api.monitor({ name });
  await openPage(page, "/?sort=name");
  const table = page.getByRole("table", { name: "Monitors" });
  await expect(table).toHaveAttribute("aria-rowcount", "61");
  await expect(table.getByRole("columnheader", { name: "Name" })).toBeVisible();
  await expect(rows(page).filter({ hasText: "job 00" })).toHaveAttribute("aria-rowindex", "2");
  await page.mouse.wheel(0, 10_000);
  const last = rows(page).filter({ hasText: "job 59" });
  await expect(last).toHaveAttribute("aria-rowindex", "61");
  expect(await rows(page).count()).toBeLessThan(60);
  await expect(last.getByRole("cell")).toHaveCount(await table.getByRole("columnheader").count());
});

test("an inverted monitor is marked in the list", async ({ page, member }) => {
  await member.api.monitor({ name: "open port", upside_down_mode: true });
  await member.api.monitor({ name: "site" });
  await openPage(page, "/");
  await expect(row(page, "open port")).toContainText("Inverted");
  await expect(row(page, "site")).not.toContainText("Inverted");
});

test("a selection hidden by filters says so, and Escape clears it", async ({ page, member }) => {
  for (const name of ["one", "two"]) await member.api.monitor({ name });
  await openPage(page, "/");
  await page.getByLabel("Select one").check();
  await page.getByLabel("Select two").check();
  await expect(bar(page)).toContainText("2 selected");
  await page.getByRole("searchbox").fill("two");
  await expect(bar(page)).toContainText("2 selected (1 hidden by filters)");
  await page.getByRole("searchbox").fill("zzzz");
  await expect(bar(page)).toContainText("2 selected (hidden by filters)");
  await page.getByRole("searchbox").press("Escape");
  await page.keyboard.press("Escape");
  await expect(bar(page)).toHaveCount(0);
});

test("monitors that could not be changed stay selected", async ({ page, member }) => {
  for (const name of ["one", "two"]) await member.api.monitor({ name });
  await openPage(page, "/");
  for (const name of ["one", "two"]) await select(page, name).check();
  await page.route("**/api/v1/monitors/change", (route) =>
    route.fulfill({ status: 503, json: { code: "unavailable", message: "Later." } }),
  );
  await bar(page).getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("The server is busy. Nothing was changed; try again.")).toBeVisible();
  await expect(bar(page)).toContainText("2 selected");
  await page.unroute("**/api/v1/monitors/change");
  await bar(page).getByRole("button", { name: "Pause" }).click();
  await expect(bar(page)).toHaveCount(0);
  await expect(rows(page).and(page.locator("[data-state=paused]"))).toHaveCount(2);
});

test("several monitors are edited at once, after a preview of how many change", async ({ page, member }) => {
  const hook = { type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const chat = await member.api.post<{ notifierid: string }>("notifier/save", { ...hook, name: "chat" });
  await member.api.post("notifier/save", { ...hook, name: "pager" });
  const one = await member.api.monitor({ name: "one", tags: "old,eu", notifiers: chat.notifierid });
  const two = await member.api.monitor({ name: "two", heartbeat_interval: 300, tags: "prod" });
  await openPage(page, "/");
  for (const name of ["one", "two"]) await select(page, name).check();
  const edit = bar(page).getByRole("button", { name: "Edit" });
  await edit.click();
  const dialog = page.getByRole("dialog", { name: "Edit 2 monitors" });
  await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  await dialog.getByLabel("Check every").selectOption("5 min");
  await expect(dialog).toContainText("1 of 2 monitors will change.");
  await dialog.getByLabel("Retries").fill("4");
  await expect(dialog).toContainText("2 of 2 monitors will change.");
  await dialog.getByLabel("Add tags").fill("prod");
  await dialog.getByLabel("Add tags").press("Enter");
  await dialog.getByRole("textbox", { name: "Remove tags" }).click();
  await page.getByRole("listbox", { name: "Remove tags" }).getByRole("option", { name: "old" }).click();
  await page.keyboard.press("Tab");
  await dialog.getByLabel("Change for chat").selectOption("Remove");
  await dialog.getByLabel("Change for pager").selectOption("Add");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Changed 2 monitors.")).toBeVisible();
  await expect(bar(page)).toHaveCount(0);
  interface Saved {
    monitor: { heartbeat_interval: number; retries: number; tags: string[]; notifiers: { name: string }[] };
  }
  for (const [{ monitorid }, tags] of [
    [one, ["eu", "prod"]],
    [two, ["prod"]],
  ] as const) {
    const { monitor } = await member.api.get<Saved>(`monitor/${monitorid}/get`);
    expect(monitor).toMatchObject({ heartbeat_interval: 300, retries: 4, notifiers: [{ name: "pager" }] });
    expect([...monitor.tags].sort()).toEqual(tags);
  }
});

test("an edit that a monitor does not allow is explained in the dialog, and changes none", async ({ page, member }) => {
  await member.api.monitor({ name: "one" });
  const slow = { type: "tcp", hostname: "127.0.0.1", port: "9", isactive: false, timeout: 30 };
  await member.api.monitor({ ...slow, name: "patient" });
  await openPage(page, "/");
  for (const name of ["one", "patient"]) await select(page, name).check();
  await bar(page).getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Check every").selectOption("10 s");
  await expect(dialog.getByRole("alert")).toContainText("patient");
});

test("one Escape closes the dialog for editing, and the selection remains", async ({ page, member }) => {
  await member.api.monitor({ name: "one", tags: "prod" });
  await openPage(page, "/");
  await select(page, "one").check();
  await bar(page).getByRole("button", { name: "Edit" }).click();
  await expect(page.getByRole("dialog").getByLabel("Check every")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(bar(page)).toContainText("1 selected");
});

test("the keyboard cursor starts at the first visible row and is remembered", async ({ page, member }) => {
  const names = Array.from({ length: 40 }, (_, index) => `job ${String(index).padStart(2, "0")}`);
  for (const name of names) await member.api.monitor({ name });
  await openPage(page, "/?sort=name");
  await expect(rows(page).first()).toBeVisible();
  await page.mouse.wheel(0, 1000);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(800);
  await page.keyboard.press("j");
  await expect(current(page)).toHaveCount(1);
  await expect(current(page)).toBeInViewport();
  await expect(current(page)).not.toContainText("job 00");
  await page.keyboard.press("j");
  const name = (await current(page).getByRole("link").textContent()) ?? "";
  await expect(current(page).getByRole("link")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  await page.goBack();
  await expect(current(page)).toContainText(name);
});

test("the search key works on every page, and the navigation shows the current section", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await openPage(page, `/monitor/${monitorid}`);
  const monitors = page.getByRole("navigation").getByRole("link", { name: "Monitors" });
  await expect(monitors).toHaveAttribute("aria-current", "true");
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await expect(monitors).toHaveAttribute("aria-current", "page");
});

test("the headings of all pages are aligned", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "one" });
  await page.setViewportSize({ width: 1600, height: 900 });
  const edges = new Set<number>();
  for (const path of ["/", `/monitor/${monitorid}`, "/alerts", "/team", "/settings", "/monitor/new"]) {
    await openPage(page, path);
    edges.add(Math.round((await page.getByRole("heading", { level: 1 }).boundingBox())?.x ?? 0));
  }
  expect([...edges]).toHaveLength(1);
});

test("a view is saved under a name for this account, opened from the menu, and deleted", async ({ page, member }) => {
  await member.api.monitor({ name: "shop", tags: "prod" });
  await member.api.monitor({ name: "lab" });
  await openPage(page, "/?tag=prod&sort=name");
  const views = page.getByRole("button", { name: "Views" });
  await views.click();
  await page.getByRole("menuitem", { name: "Save this view…" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Production");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved the view Production.")).toBeVisible();
  await expect(views).toBeFocused();

  await openPage(page, "/");
  await expect(rows(page)).toHaveCount(2);
  await views.click();
  await page.getByRole("menuitem", { name: "Production" }).click();
  await expect(page).toHaveURL(/\?tag=prod&sort=name$/);
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Search monitors/ }).fill("production");
  await expect(page.getByRole("option", { name: "Production" })).toBeVisible();
  await page.keyboard.press("Escape");
  await views.click();
  await page.getByRole("menuitem", { name: "Delete “Production”" }).click();
  await views.click();
  await expect(page.getByText("No saved views yet.")).toBeVisible();
});

test("another account in the same browser has its own views", async ({ page, member, request }) => {
  await member.api.monitor({ name: "shop" });
  await openPage(page, "/?q=shop");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save this view…" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shop");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await logOut(page);
  const other = `other.${member.email}`;
  await (await signUp(request, other)).monitor({ name: "theirs" });
  await logIn(page, other);
  await page.getByRole("button", { name: "Views" }).click();
  await expect(page.getByText("No saved views yet.")).toBeVisible();
});
