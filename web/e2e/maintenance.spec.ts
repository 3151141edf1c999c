/** Maintenance windows: the form, the list, the month, mutes, and what monitors show of them. */
import type { Page } from "@playwright/test";
import { axeViolations, COLOR_RULES, horizontalOverflow, openPage, switchScheme } from "./axe";
import { expect, logIn, PASSWORD, test, type Api } from "./service";

const HOUR = 3_600_000;
const iso = (offset: number) => new Date(Date.now() + offset).toISOString();

interface Window {
  maintenanceid: string;
  status: string;
  rrule: string | null;
  cron: string | null;
  time_zone: string;
  duration: number;
  tags: string[];
  current: { from: string; to: string } | null;
}

async function save(api: Api, body: object): Promise<Window> {
  return (await api.post<{ maintenance: Window }>("maintenance/save", body)).maintenance;
}

const all = async (api: Api) => (await api.get<{ maintenances: Window[] }>("maintenances")).maintenances;

const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

async function chooseDays(page: Page, chosen: readonly string[]) {
  for (const day of days) await page.getByRole("checkbox", { name: day }).setChecked(chosen.includes(day));
}

test("a window is planned by weekday, is the same as cron, and shows its next times in both zones", async ({ page, member: { api } }) => {
  for (const name of ["shop", "blog"]) await api.monitor({ name, tags: "prod" });
  await page.goto("/maintenance");
  await expect(page.getByText("No maintenance windows yet")).toBeVisible();
  await page.getByRole("link", { name: "New window" }).click();
  const preview = page.getByRole("complementary");
  const times = preview.getByRole("row");
  await expect(preview).toContainText("Choose what it covers.");
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByText("This is required.")).toBeVisible();
  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  await page.keyboard.type("Backups");
  await page.getByRole("textbox", { name: "With any of these tags" }).fill("prod");
  await page.keyboard.press("Enter");
  await expect(preview).toContainText("Covers 2 monitors");

  await page.getByRole("button", { name: "Weekly" }).click();
  await page.getByLabel("First time").fill("2026-03-01T02:30");
  await page.getByLabel("Duration").fill("90m");
  await chooseDays(page, []);
  await expect(preview).toContainText("Choose at least one day.");
  await chooseDays(page, ["Wednesday", "Sunday"]);
  // In the reader's own zone, there is one column of times.
  await expect(times).toHaveCount(6);
  await expect(preview.getByRole("columnheader")).toHaveText(["Time in Europe/Berlin"]);
  const zone = page.getByRole("textbox", { name: "Time zone" });
  await zone.fill("new_y");
  await page.getByRole("option", { name: "America/New_York" }).click();
  await expect(preview.getByRole("columnheader")).toHaveText(["Time in America/New_York", "Your time (Europe/Berlin)"]);
  await expect(times.nth(1).getByRole("cell").first()).toContainText("02:30");
  await expect(times.nth(5).getByRole("cell").last()).toContainText(/0[78]:30/);

  await page.getByLabel("Every … weeks").fill("2");
  await page.getByRole("button", { name: "Cron" }).click();
  await expect(page.getByText("Cron can’t express this, so it was left out: every how many weeks or months.")).toBeVisible();
  const cron = page.getByLabel("Cron expression");
  await expect(cron).toHaveValue("30 2 * * WED,SUN");
  await cron.fill("61 2 * * WED,SUN");
  await expect(preview).toContainText("Invalid minute: “61”.");
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.locator("form").getByText("Invalid minute: “61”.").first()).toBeVisible();
  await expect(cron).toBeFocused();
  await cron.fill("30 2 * * WED,SUN");
  await expect(times).toHaveCount(6);
  await page.getByRole("button", { name: "Weekly" }).click();
  await expect(page.getByLabel("Every … weeks")).toHaveValue("1");
  await page.getByLabel("Not on").fill("2026-12-27");
  await page.getByRole("button", { name: "Add date" }).click();
  await expect(page.getByRole("button", { name: "Remove 27 Dec 2026" })).toBeVisible();

  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Backups");
  await expect(page.getByText("Every Wednesday and Sunday at 02:30, for 1 h 30 min")).toBeVisible();
  await expect(page.getByRole("main").getByRole("link", { name: "shop" })).toBeVisible();
  expect(await all(api)).toMatchObject([
    { rrule: "FREQ=WEEKLY;BYDAY=WE,SU", cron: null, time_zone: "America/New_York", duration: 5400, tags: ["prod"], except: ["2026-12-27"] },
  ]);

  // Only what changed is sent, and nothing is lost by leaving.
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Nightly backups");
  await page.getByRole("link", { name: "Alerts" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep editing" }).click();
  const sent = page.waitForRequest("**/maintenance/save");
  await page.getByRole("button", { name: "Save" }).click();
  const [window] = await all(api);
  expect((await sent).postDataJSON()).toEqual({ maintenanceid: window?.maintenanceid, name: "Nightly backups" });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Nightly backups");
});

test("by month, as a rule, until ended and in the past: the service accepts what the form sends", async ({ page, member: { api } }) => {
  const { monitorid } = await api.monitor({ name: "shop" });
  await page.goto(`/maintenance/new?monitor=${monitorid}`);
  const preview = page.getByRole("complementary");
  await expect(preview).toContainText("Covers 1 monitor");
  await page.getByLabel("Name", { exact: true }).fill("work");
  await page.getByRole("button", { name: "Monthly" }).click();
  for (const box of await page.getByRole("checkbox", { name: /^Day / }).all()) if (await box.isChecked()) await box.uncheck();
  await page.getByRole("checkbox", { name: "Day 15" }).check();
  await page.getByRole("checkbox", { name: "Last day of the month" }).check();
  await expect(preview.getByRole("row")).toHaveCount(6);
  await page.getByRole("button", { name: "RRULE" }).click();
  await expect(page.getByLabel("Recurrence rule")).toHaveValue("FREQ=MONTHLY;BYMONTHDAY=15,-1");
  await page.getByRole("button", { name: "Monthly" }).click();
  await page.getByRole("button", { name: "A weekday" }).click();
  await page.getByRole("textbox", { name: "Which" }).click();
  await page.getByRole("option", { name: "Last" }).click();
  await page.getByRole("textbox", { name: "Weekday" }).click();
  await page.getByRole("option", { name: "Sunday" }).click();
  await page.locator("label").filter({ hasText: "Pause checks" }).click();
  await page.getByLabel("Keep alerts suppressed afterwards").fill("5m");
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByText(/^Every month on the last Sunday at/)).toBeVisible();
  await expect(page.getByText("Checks paused")).toBeVisible();
  expect(await all(api)).toMatchObject([{ rrule: "FREQ=MONTHLY;BYDAY=-1SU", checks: "pause", grace: 300 }]);

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Once" }).click();
  await page.locator("label").filter({ hasText: "Lasts until somebody ends it" }).click();
  await expect(preview).toContainText("until it is ended");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("work");
  expect(await all(api)).toMatchObject([{ rrule: null, duration: null }]);

  await page.goto(`/maintenance/new?monitor=${monitorid}`);
  await page.getByLabel("Name", { exact: true }).fill("was work");
  const local = (offset: number) =>
    new Date(Date.now() + offset).toLocaleString("sv-SE", { timeZone: "Europe/Berlin" }).slice(0, 16).replace(" ", "T");
  await page.getByLabel("Starts").fill(local(-3 * HOUR));
  await page.getByLabel("Ends", { exact: true }).fill(local(-4 * HOUR));
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByText("The end must be after the start.").first()).toBeVisible();
  await page.getByLabel("Ends", { exact: true }).fill(local(-2 * HOUR));
  await expect(preview).toContainText("This lies in the past");
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByText("Created was work.")).toBeVisible();
  await expect(page.getByRole("main").getByText("Over", { exact: true })).toBeVisible();
});

test("the list changes live, and windows are extended, ended, turned off and deleted", async ({ page, member: { api } }) => {
  const shop = await api.monitor({ name: "shop" });
  await api.monitor({ name: "blog" });
  const later = await save(api, { name: "later", everything: true, starts: iso(24 * HOUR), ends: iso(25 * HOUR) });
  await page.goto("/maintenance");
  const section = (name: string) => page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });
  await expect(section("Upcoming")).toContainText("later");
  await expect(section("Upcoming")).toContainText("All monitors (2)");
  // Somebody else plans another one.
  const { maintenanceid, current } = await save(api, { name: "deploy", monitors: shop.monitorid, starts: iso(-60_000), ends: iso(HOUR) });
  await expect(section("Running now")).toContainText("deploy");
  await expect(section("Running now")).toContainText("Covers 1 monitor");

  await page.getByRole("link", { name: "deploy" }).click();
  await expect(page).toHaveURL(new RegExp(`/maintenance/${maintenanceid}$`));
  await page.getByRole("button", { name: "Extend" }).click();
  await page.getByRole("menuitem", { name: "By 4 hours" }).click();
  await expect(page.getByText("Extended deploy.")).toBeVisible();
  const extended = (await all(api)).find((window) => window.maintenanceid === maintenanceid);
  expect(Date.parse(extended?.current?.to ?? "") - Date.parse(current?.to ?? "")).toBe(4 * HOUR);
  await page.getByRole("button", { name: "Extend" }).click();
  await page.getByRole("menuitem", { name: "Until…" }).click();
  await page.getByLabel("Date and time").fill("2020-01-01T09:00");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Choose a time after the current end, at most a year from now.")).toBeVisible();
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "Maintenance" }).first().click();
  await page.getByRole("button", { name: "Actions for deploy" }).click();
  await page.getByRole("menuitem", { name: "End now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
  await expect(page.getByText("Ended deploy.", { exact: true })).toBeVisible();
  await expect(section("Past")).toContainText("deploy");
  await page.getByRole("button", { name: "Actions for later" }).click();
  await page.getByRole("menuitem", { name: "Turn off" }).click();
  await expect(section("Turned off")).toContainText("later");
  await page.getByRole("link", { name: "later" }).click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Deleted later.")).toBeVisible();
  await expect(page).toHaveURL(/\/maintenance$/);
  await expect(page.getByRole("link", { name: "later" })).toHaveCount(0);
  await page.goto(`/maintenance/${later.maintenanceid}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
});

test("the month shows every time that the service announces, on a phone as a list", async ({ page, member: { api } }) => {
  await api.monitor({ name: "shop" });
  const rules = {
    fortnight: { rrule: "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", time_zone: "Australia/Lord_Howe" },
    payday: { rrule: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", time_zone: "America/New_York" },
    cron: { cron: "15 23 1-7,L * SAT", time_zone: "Asia/Kathmandu" },
  };
  for (const [name, rule] of Object.entries(rules)) {
    await save(api, { name, everything: true, starts: "2026-01-06T23:30", duration: 3600, ...rule });
  }
  const local = (at: string) => new Date(at).toLocaleDateString("sv-SE", { timeZone: "Europe/Berlin" });
  for (const { maintenanceid, name } of (await all(api)) as (Window & { name: string })[]) {
    const { occurrences } = await api.get<{ occurrences: { from: string }[] }>(`maintenance/${maintenanceid}/get`);
    for (const { from } of [occurrences[0], occurrences[3], occurrences[9]].filter((one) => one !== undefined)) {
      const date = local(from);
      await page.goto(`/maintenance?view=month&month=${date.slice(0, 7)}`);
      const cell = page.getByRole("cell").filter({ has: page.locator(`time[datetime="${date}"]`) });
      await expect(cell.getByRole("link", { name: new RegExp(name) }).first(), `${name} ${date}`).toBeVisible();
    }
  }
  const today = local(new Date().toISOString());
  await page.getByRole("button", { name: "Today" }).click();
  await expect(page.locator("td[aria-current=date] time")).toHaveAttribute("datetime", today);
  const month = page.getByRole("heading", { level: 2 });
  const shown = await month.textContent();
  await page.getByRole("button", { name: "Next month" }).focus();
  await page.keyboard.press("Enter");
  await expect(month).not.toHaveText(shown ?? "");
  await page.getByRole("button", { name: "Previous month" }).click();
  await expect(month).toHaveText(shown ?? "");
  await page.getByRole("button", { name: "Next month" }).click();
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("table")).toHaveCount(0);
  const first = page.getByRole("main").getByRole("link", { name: "fortnight" }).first();
  await first.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("fortnight");
  await expect(page.getByText(rules.fortnight.rrule)).toBeVisible();
});

test("a monitor is muted from its row and its page, and unmuted", async ({ page, member: { api } }) => {
  const shop = await api.monitor({ name: "shop" });
  await api.report(shop.monitorid, "up");
  await page.goto("/");
  const row = page.locator("[data-row]").filter({ hasText: "shop" });
  await page.getByRole("button", { name: "Actions for shop" }).click();
  await page.getByRole("menuitem", { name: "Mute for 1 hour" }).click();
  await expect(page.getByText("Muted shop.")).toBeVisible();
  await expect(row).toContainText(/In maintenance until \d\d:\d\d|In maintenance until \d+ /);
  // Nobody is notified, and the time counts.
  await api.report(shop.monitorid, "down", { message: "disk full" });
  await page.goto("/alerts?tab=suppressed");
  await expect(page.getByRole("link", { name: "Maintenance: Mute: shop" })).toBeVisible();
  expect(await all(api)).toMatchObject([{ name: "Mute: shop", counts: "counted", alerts: "suppress", checks: "run" }]);
  await api.report(shop.monitorid, "up");

  await page.goto(`/monitor/${shop.monitorid}`);
  const notice = page.getByRole("status").filter({ hasText: "In maintenance until" });
  await expect(notice.getByRole("link", { name: "Mute: shop" })).toBeVisible();
  await notice.getByRole("button", { name: "End now" }).click();
  await expect(page.getByText("Ended Mute: shop.")).toBeVisible();
  await expect(notice).toHaveCount(0);
  await page.getByRole("button", { name: "Mute", exact: true }).click();
  await page.getByRole("menuitem", { name: "Mute until…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Mute" }).click();
  await expect(notice).toContainText("09:00");

  // A window that covers others too is ended for them only after a question.
  await api.monitor({ name: "blog" });
  await page.getByRole("button", { name: "Mute", exact: true }).click();
  await page.getByRole("menuitem", { name: "End maintenance now" }).click();
  await expect(notice).toHaveCount(0);
  await save(api, { name: "everything", everything: true, starts: iso(-1000), ends: iso(HOUR) });
  await expect(notice).toContainText("everything");
  await notice.getByRole("button", { name: "End now" }).click();
  await expect(page.getByRole("dialog")).toContainText("It ends for 2 monitors.");
  await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
  await expect(notice).toHaveCount(0);
});

test("a mute can leave out the monitors that depend on the muted one, and a window can cover the members of a group", async ({
  page,
  member: { api },
}) => {
  const shop = await api.monitor({ name: "shop" });
  await api.monitor({ name: "cart", depends_on: shop.monitorid });
  await api.monitor({ name: "all shops", type: "group", heartbeat_interval: 60, group: { monitors: shop.monitorid } });
  await page.goto("/");
  await page.getByRole("button", { name: "Actions for shop" }).click();
  await page.getByRole("menuitem", { name: "Mute until…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("label").filter({ hasText: "Also mute monitors that depend on it" }).click();
  await dialog.getByRole("button", { name: "Mute" }).click();
  await expect(page.getByText("Muted shop.")).toBeVisible();
  expect(await all(api)).toMatchObject([{ name: "Mute: shop", dependents: false, monitors_covered: 1 }]);

  await page.goto("/maintenance/new");
  await page.getByLabel("Name", { exact: true }).fill("move");
  await page.getByRole("textbox", { name: "Members of these groups" }).click();
  await page.getByRole("option", { name: "all shops" }).click();
  await page.keyboard.press("Escape");
  await page.locator("label").filter({ hasText: "Also monitors that depend on them" }).click();
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByText("members of all shops")).toBeVisible();
  await expect(page.getByText("Without monitors that depend on them")).toBeVisible();
});

test("recent checks, the chart and the uptime show maintenance, in words too", async ({ page, member: { api } }) => {
  const shop = await api.monitor({ name: "shop" });
  await api.report(shop.monitorid, "up", { load_time: 20 });
  await save(api, { name: "deploy", monitors: shop.monitorid, starts: iso(0), ends: iso(HOUR) });
  await page.goto(`/monitor/${shop.monitorid}`);
  await expect(page.getByText("In maintenance until")).toBeVisible();
  // Live: the events of heartbeats do not say what they count as.
  for (const status of ["up", "down"]) await api.report(shop.monitorid, status, { load_time: 30 });
  await expect(page.getByRole("img", { name: "Last 3 checks, none failed, 2 in maintenance" })).toBeVisible();
  await expect(page.getByRole("main").getByText("Maintenance", { exact: true }).first()).toBeVisible();
  await page.goto("/");
  await expect(page.getByRole("img", { name: "Last 3 checks, none failed, 2 in maintenance" })).toBeVisible();
  const excluded = async () => {
    const { spans } = await api.get<{ spans: { seconds: { maintenance: number } }[] }>(`monitor/${shop.monitorid}/stats`);
    return spans[0]?.seconds.maintenance ?? 0;
  };
  await expect.poll(excluded).toBeGreaterThan(0);
  await page.goto(`/monitor/${shop.monitorid}`);
  await expect(page.getByText(/of maintenance excluded/).first()).toBeVisible();
  await expect(page.getByText("Maintenance and time we couldn’t check are excluded.", { exact: false })).toBeVisible();
  await expect(page.getByRole("img", { name: /points, at most .*, maintenance$/ })).toBeVisible();
  await page.getByText("Show as a list").click();
  await expect(page.getByRole("listitem").filter({ hasText: "Maintenance" }).first()).toBeVisible();
});

test("the pages are readable in German, on a phone, and by axe", async ({ page, member: { api } }) => {
  const shop = await api.monitor({ name: "shop", tags: "prod" });
  const { maintenanceid } = await save(api, { name: "deploy", monitors: shop.monitorid, starts: iso(-HOUR), ends: iso(HOUR) });
  await save(api, { name: "backups", tags: "prod", starts: "2026-01-01T02:30", duration: 3600, rrule: "FREQ=WEEKLY;BYDAY=SU" });
  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  const pages: [path: string, text: string][] = [
    ["/maintenance", "Läuft gerade"],
    ["/maintenance?view=month", "Heute"],
    [`/maintenance/${maintenanceid}`, "Alarme unterdrückt"],
    ["/maintenance/new", "Neues Wartungsfenster"],
  ];
  for (const [path, text] of pages) {
    await openPage(page, path);
    await expect(page.getByText(text).first()).toBeVisible();
    if (path.endsWith("new")) await page.getByRole("button", { name: "Monatlich" }).click();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await horizontalOverflow(page), `${path}, ${width} px`).toBeLessThanOrEqual(0);
      expect(await axeViolations(page), `${path}, ${width} px`).toEqual([]);
    }
    await switchScheme(page, "dark");
    expect(await axeViolations(page, COLOR_RULES), `${path}, dark`).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
  }
});

test("a member who is limited to some monitors sees and plans windows for these", async ({ browser, baseURL, member }) => {
  const { api } = member;
  const shop = await api.monitor({ name: "shop", tags: "eu" });
  const blog = await api.monitor({ name: "blog", tags: "us" });
  const hour = { starts: iso(-HOUR), ends: iso(HOUR) };
  await save(api, { name: "own work", monitors: shop.monitorid, ...hour });
  await save(api, { name: "all work", everything: true, ...hour });
  await save(api, { name: "other work", monitors: blog.monitorid, ...hour });
  const email = `limited.${member.email}`;
  await api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD, role: "responder" });
  const { members } = await api.get<{ members: { userid: string; email: string }[] }>("team/members");
  await api.post("member/save", { userid: members.find((one) => one.email === email)?.userid, tags: "eu" });
  const page = await (await browser.newContext({ baseURL: baseURL ?? "", locale: "en-GB" })).newPage();
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  await logIn(page, email);
  await openPage(page, "/maintenance");
  await expect(page.getByRole("button", { name: "Actions for own work" })).toBeVisible();
  await expect(page.getByRole("link", { name: "all work" })).toBeVisible();
  await expect(page.getByRole("link", { name: "other work" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Actions for all work" })).toHaveCount(0);
  await page.getByRole("link", { name: "all work" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("all work");
  await expect(page.getByRole("link", { name: "Edit" })).toHaveCount(0);
  await openPage(page, "/maintenance/new");
  await page.getByLabel("Name", { exact: true }).fill("mine");
  await page.getByRole("textbox", { name: "Monitors" }).fill("sh");
  await page.getByRole("option", { name: "shop" }).click();
  await expect(page.getByRole("textbox", { name: "With any of these tags" })).toHaveCount(0);
  await expect(page.getByRole("complementary")).toContainText("Covers 1 monitor");
  await page.getByRole("button", { name: "Create window" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("mine");
  expect(refused).toEqual([]);
  await page.context().close();
});
