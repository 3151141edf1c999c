import { choose, expect, logIn, test } from "./service";

const row = "[data-row]";

test("a monitor of each type is created and opens with its target", async ({ page, member: _member, service }) => {
  const port = new URL(service.target.url).port;
  const kinds: [string, Record<string, string>, RegExp][] = [
    ["HTTP", { URL: service.target.url, Name: "site" }, /http:\/\/127/],
    ["Keyword", { URL: service.target.url, Keyword: "all is well", Name: "words" }, /http:\/\/127/],
    ["Ping", { Host: "127.0.0.1", Name: "machine" }, /127\.0\.0\.1/],
    ["TCP", { Host: "127.0.0.1", Port: port, Name: "port" }, new RegExp(`127\\.0\\.0\\.1:${port}`)],
    ["DNS", { Host: "example.com", Resolver: "127.0.0.1", Port: "9", Name: "name" }, /A example\.com/],
    ["Push", { Name: "job" }, /Push URL/],
  ];
  for (const [kind, fields, target] of kinds) {
    await page.goto("/monitor/new");
    await choose(page, new RegExp(`^${kind}`));
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole("button", { name: "Create monitor" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(fields.Name ?? "");
    await expect(page.getByText(target).first()).toBeVisible();
  }
  await page.goto("/");
  await expect(page.locator(row)).toHaveCount(kinds.length);
});

test("invalid fields show their errors, also in the collapsed section, and the values remain", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill("ftp://example.com");
  await page.getByText("More settings").click();
  await page.getByLabel("Accepted status codes").fill("700");
  await page.getByLabel("Headers").fill("no colon here");
  await page.getByText("More settings").click();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByLabel("URL")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Accepted status codes")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Headers")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("URL")).toHaveValue("ftp://example.com");
  await expect(page.getByLabel("URL")).toBeFocused();
  await page.getByLabel("URL").fill("http://example.com");
  await expect(page.getByLabel("URL")).not.toHaveAttribute("aria-invalid", "true");
});

test("the check can be run before saving, and shows the duration of its phases", async ({ page, member: _member, service }) => {
  service.target.status = 503;
  await page.goto("/monitor/new");
  await page.getByLabel("URL").fill(service.target.url);
  await page.getByRole("button", { name: "Run the check now" }).click();
  await expect(page.getByRole("status").getByText("Down", { exact: true })).toBeVisible();
  await expect(page.getByText("503")).toBeVisible();
  await expect(page.getByText("Connect", { exact: true })).toBeVisible();
  service.target.status = 200;
});

test("unsaved changes are not lost by accident", async ({ page, member: _member }) => {
  await page.goto("/monitor/new");
  await page.getByLabel("Name", { exact: true }).fill("half done");
  await page.getByRole("link", { name: "Team" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("Leave without saving?");
  await dialog.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("half done");
  await page.getByRole("link", { name: "Team" }).click();
  await dialog.getByRole("button", { name: "Discard" }).click();
  await expect(page).toHaveURL(/\/team$/);
});

test("check now, pause, resume, edit, duplicate and delete", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ type: "http", name: "shop", http: { url: service.target.url } });
  await page.goto(`/monitor/${monitorid}`);
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByText(/^Checked: 200/)).toBeVisible();
  await expect(page.getByRole("img", { name: /^Last (check passed|\d+ checks, none failed)/ })).toBeVisible();

  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Check now" })).toBeHidden();
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Name", { exact: true }).fill("web shop");
  await page.getByRole("button", { name: "5 min", exact: true }).click();
  await page.getByRole("textbox", { name: "Tags" }).pressSequentially("prod,");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("web shop");
  await expect(page.getByText("5 min", { exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: "prod" })).toBeVisible();

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("web shop (copy)");
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("web shop (copy)");

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("web shop");
  await expect(dialog.getByRole("button", { name: "Delete" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("web shop (copy)");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.locator(row)).toHaveCount(1);
});

test("reports to a push URL are shown live, and an outage becomes an alert", async ({ page, member, request }) => {
  const { monitorid, push_url } = await member.api.monitor({ name: "nightly backup" });
  await page.goto(`/monitor/${monitorid}`);
  const shown = await page.getByRole("group", { name: /Push URL/ }).innerText();
  expect(shown).toBe(push_url);
  const ping = await page.getByRole("group", { name: /Ping URL/ }).innerText();
  for (const [way, url] of [
    ["PowerShell", shown],
    ["Python", shown],
    ["cron", ping],
    ["curl", ping],
  ] as const) {
    await page.getByRole("button", { name: way, exact: true }).click();
    await expect(page.getByRole("group", { name: way, exact: true })).toContainText(url);
  }
  await request.get(`${shown}?status=up&msg=done&ping=12`);
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
  await expect(page.getByText("12 ms").first()).toBeVisible();
  await request.get(`${shown}?status=down&msg=disk%20full`);
  await expect(page.getByText("Down", { exact: true })).toBeVisible();
  await expect(page.getByText("Open", { exact: true }).first()).toBeVisible();
  await page.goto("/alerts");
  await expect(page.getByRole("listitem").filter({ hasText: "nightly backup" })).toContainText("disk full");
});

test("a push URL that has leaked is replaced, and the old one stops working", async ({ page, member, request }) => {
  const { monitorid, push_url } = await member.api.monitor({ name: "nightly backup" });
  await page.goto(`/monitor/${monitorid}`);
  const address = page.getByRole("group", { name: /Push URL/ });
  const leaked = await address.innerText();
  expect(leaked).toBe(push_url);
  await page.getByRole("button", { name: "Replace push URL" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replace push URL" }).click();
  await expect(page.getByText("Push URL replaced.")).toBeVisible();
  await expect(address).not.toHaveText(leaked);
  const replaced = await address.innerText();
  await page.getByRole("button", { name: "Python", exact: true }).click();
  await expect(page.getByRole("group", { name: "Python", exact: true })).toContainText(replaced);
  expect((await request.get(`${leaked}?status=down`)).status()).toBe(404);
  expect((await request.get(replaced)).status()).toBe(200);
  await expect(page.getByText("Up", { exact: true })).toBeVisible();
});

test("two browsers: changes in one appear in the other without a reload", async ({ page, browser, member, baseURL }) => {
  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, member.email);
  await expect(page.getByRole("heading", { name: "What should we watch?" })).toBeVisible();
  const { monitorid } = await member.api.monitor({ name: "lamp" });
  for (const each of [page, other]) await expect(each.locator(row)).toContainText("lamp");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await member.api.report(monitorid, "up");
  for (const each of [page, other]) await expect(each.locator(row)).toHaveAttribute("data-state", "up");
  await expect(page).toHaveTitle("Monitors · Wakeful");
  await member.api.report(monitorid, "down", { message: "gone dark" });
  for (const each of [page, other]) await expect(each.locator(row)).toContainText("gone dark");
  await expect(page).toHaveTitle("(1) Monitors · Wakeful");

  await other.goto(`/monitor/${monitorid}/edit`);
  await other.getByLabel("Name", { exact: true }).fill("lantern");
  await other.getByRole("button", { name: "Save" }).click();
  await expect(page.locator(row)).toContainText("lantern");
  await other.context().close();
});

test("search, filters and sort order are in the URL and survive a reload", async ({ page, member }) => {
  const down = await member.api.monitor({ name: "beta", tags: "eu" });
  const up = await member.api.monitor({ name: "alpha", tags: "us" });
  await member.api.monitor({ type: "ping", name: "gamma", hostname: "127.0.0.1", isactive: false });
  await member.api.report(down.monitorid, "down");
  await member.api.report(up.monitorid, "up");
  await page.goto("/");
  const names = page.locator(`${row} a`);
  await expect(names).toHaveText(["beta", "alpha", "gamma"]);
  await page.getByLabel("Sort by").selectOption("Name");
  await expect(names).toHaveText(["alpha", "beta", "gamma"]);
  await page.getByRole("button", { name: /Paused/ }).click();
  await expect(names).toHaveText(["gamma"]);
  await page.reload();
  await expect(names).toHaveText(["gamma"]);
  await page.getByRole("button", { name: /Paused/ }).click();
  await page.getByRole("combobox", { name: "Tag" }).selectOption("eu");
  await expect(names).toHaveText(["beta"]);
  await page.goto("/");
  await page.getByRole("searchbox").fill("al");
  await expect(names).toHaveText(["alpha"]);
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(names).toHaveCount(3);
});

test("bulk actions: select, tag, pause, resume, delete", async ({ page, member }) => {
  for (const name of ["one", "two", "three"]) await member.api.monitor({ name });
  await page.goto("/");
  await page.getByLabel("Select one").check();
  await page.getByRole("button", { name: "Select all 3" }).click();
  await page.getByRole("toolbar").getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Add tags" }).pressSequentially("team-a,");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Changed 3 monitors.")).toBeVisible();
  await expect(page.locator(row).filter({ hasText: "team-a" })).toHaveCount(3);

  await page.getByLabel("Select two").check();
  await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("Paused 1 monitor.")).toBeVisible();
  await expect(page.locator(`${row}[data-state=paused]`)).toHaveCount(1);

  await page.getByLabel("Select two").check();
  await page.getByLabel("Select three").check();
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("2");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.locator(row)).toHaveCount(1);
});

test("keyboard shortcuts: search, move, select, open, new, help", async ({ page, member }) => {
  for (const name of ["a", "b", "c"]) await member.api.monitor({ name });
  await page.goto("/");
  await expect(page.locator(row)).toHaveCount(3);
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(page.getByRole("link", { name: "b", exact: true })).toBeFocused();
  await page.keyboard.press("x");
  await expect(page.getByLabel("Select b")).toBeChecked();
  await page.keyboard.press("k");
  await expect(page.getByRole("link", { name: "a", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("a");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("Keyboard shortcuts");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/\/monitor\/new$/);
});

test("another team's pages are not found, exactly like pages that do not exist", async ({ page, browser, member, request, baseURL }) => {
  const { monitorid } = await member.api.monitor({ name: "ours" });
  const hook = { name: "our chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  await request.post("/api/v1/signup", { data: { email: `other.${member.email}`, password: "correct horse 9" } });
  const other = await (await browser.newContext({ baseURL })).newPage();
  await logIn(other, `other.${member.email}`);
  const nothing = "0190a0a0-0000-7000-8000-000000000000";
  for (const [kind, theirs] of [
    ["monitor", monitorid],
    ["notifier", notifierid],
  ] as const) {
    for (const path of [theirs, `${theirs}/edit`, nothing, `${nothing}/edit`]) {
      await other.goto(`/${kind}/${path}`);
      await expect(other.getByText("Page not found"), `${kind} ${path}`).toBeVisible();
      await expect(other.getByText(/^our/)).toHaveCount(0);
    }
  }
  await other.goto(`/monitor/new?from=${monitorid}`);
  await expect(other.getByText(/^our/)).toHaveCount(0);
  await other.context().close();
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("ours");
  await page.goto(`/notifier/${notifierid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("our chat");
});

test("being offline is shown, and the page recovers", async ({ page, context, member }) => {
  await member.api.monitor({ name: "steady" });
  await page.goto("/");
  await expect(page.locator(row)).toHaveCount(1);
  await context.setOffline(true);
  await expect(page.getByText("You’re offline.")).toBeVisible();
  await page.getByRole("link", { name: "Team" }).click();
  await context.setOffline(false);
  await expect(page.getByText("You’re offline.")).toBeHidden();
  // The page may be loading this view at the same time.
  await expect(() => page.goto("/team")).toPass();
  await expect(page.getByText(member.email).first()).toBeVisible();
});

test("without probes the form does not ask for regions", async ({ page, member: _member }) => {
  const response = page.waitForResponse(/\/api\/v1\/regions$/);
  await page.goto("/monitor/new");
  await response;
  await expect(page.getByLabel("URL")).toBeVisible();
  await expect(page.getByText("Check from")).toHaveCount(0);
});
