/** Who is notified: on-call schedules, escalation policies, routing rules, contacts and quiet hours. */
import type { Page } from "@playwright/test";
import { shiftsOf } from "../src/features/oncall/schedules/shifts";
import { axeViolations, COLOR_RULES, openPage, switchScheme } from "./axe";
import { createSampleData } from "./sample-data";
import { expect, logIn, PASSWORD, test, type Api } from "./service";

interface Shift {
  from: string;
  to: string;
  userid: string | null;
  layer: number | null;
}

interface Rule {
  name: string;
  tags: string[];
  notifiers: string[];
  policyid: string | null;
  severity: string | null;
  stop: boolean;
}

const hook = (name: string) => ({ name, type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } });

async function notifier(api: Api, name: string): Promise<string> {
  return (await api.post<{ notifierid: string }>("notifier/save", hook(name))).notifierid;
}

/** Adds people to the team; returns their ids by address, with the member's own. */
async function addPeople(api: Api, ...emails: string[]): Promise<Record<string, string>> {
  for (const email of emails) await api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD, role: "responder" });
  const { members } = await api.get<{ members: { userid: string; email: string }[] }>("team/members");
  return Object.fromEntries(members.map(({ email, userid }) => [email, userid]));
}

async function pick(page: Page, label: string | RegExp, option: string | RegExp) {
  await page.getByRole("textbox", { name: label }).click();
  await page.getByRole("option", { name: option, exact: typeof option === "string" }).click();
}

test("a schedule is created, its gaps are named and covered, and its calendar is shown once", async ({ page, request, member }) => {
  const { api, email } = member;
  const ann = `ann.${email}`;
  await addPeople(api, ann);
  await openPage(page, "/oncall");
  await expect(page.getByText("No on-call schedules yet")).toBeVisible();
  await page.getByRole("link", { name: "New schedule" }).click();
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByText("Choose at least one person.")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).first().fill("Ops");
  for (const person of [email, ann]) await pick(page, "Add a person", person);
  // Ann is first, by keyboard; the focus stays on the handle.
  await page.getByRole("button", { name: `Move ${ann}, 2 of 2` }).press("ArrowUp");
  await expect(page.getByRole("button", { name: `Move ${ann}, 1 of 2` })).toBeFocused();
  await expect(page.getByText(`${ann} is now 1 of 2.`)).toBeAttached();
  await page.getByLabel("First handover").fill("2026-01-05T09:00");
  await page.getByRole("button", { name: "Add hours" }).click();
  for (const day of ["Saturday", "Sunday"]) await page.getByRole("checkbox", { name: day }).check();
  await page.getByLabel("From").fill("08:00");
  await page.getByLabel("To", { exact: true }).fill("20:00");
  await expect(page.getByText(/Nobody is on call for \d parts of this week\./)).toBeVisible();
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByText("Created Ops.")).toBeVisible();

  const { schedules } = await api.get<{ schedules: { scheduleid: string; layers: never[]; time_zone: string }[] }>("schedules");
  const [schedule] = schedules;
  expect(schedule).toMatchObject({ name: "Ops", time_zone: "Europe/Berlin", layers: [{ every: 1, unit: "week" }] });
  const id = schedule?.scheduleid ?? "";
  // The chart computes the turns of layers; the service, who is on call.
  const range = { from: "2026-03-23T00:00:00Z", to: "2026-05-10T00:00:00Z" };
  const { shifts } = await api.get<{ shifts: Shift[] }>(`schedule/${id}/get?from=${range.from}&to=${range.to}`);
  const computed = shiftsOf(schedule?.layers ?? [], "Europe/Berlin", { from: Date.parse(range.from), to: Date.parse(range.to) });
  expect(computed.map(({ from, to, userid, layer }) => [from, to, userid, layer])).toEqual(
    shifts.map(({ from, to, userid, layer }) => [Date.parse(from), Date.parse(to), userid ?? null, layer ?? null]),
  );
  expect(computed.length).toBeGreaterThan(20);

  await page.goto(`/oncall?schedule=${id}&week=2030-06-05`);
  await expect(page.getByRole("heading", { level: 3 })).toHaveText(/3\s*[–-]\s*9 June 2030/);
  const rows = page.getByRole("list", { name: "Shifts" }).getByRole("listitem");
  await expect(page.getByRole("status").filter({ hasText: "Nobody is on call for 3 parts of this week." })).toBeVisible();
  await expect(rows).toHaveCount(5);
  await rows.filter({ hasText: "Nobody is on call" }).nth(1).getByRole("button", { name: "Cover" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByLabel("From")).toHaveValue("2030-06-08T20:00");
  await expect(dialog.getByLabel("Until")).toHaveValue("2030-06-09T08:00");
  await dialog.getByLabel("Until").fill("2030-06-08T10:00");
  await dialog.getByRole("button", { name: "Save override" }).click();
  await expect(dialog.getByText("The end must be after the start.")).toBeVisible();
  await dialog.getByLabel("Until").fill("2030-06-09T08:00");
  await pick(page, "Who is on call", ann);
  await dialog.getByRole("button", { name: "Save override" }).click();
  await expect(page.getByText("Override saved.")).toBeVisible();
  await expect(rows.filter({ hasText: "Override" })).toContainText(ann);
  await expect(page.getByText("Nobody is on call for 2 parts of this week.")).toBeVisible();
  await rows.getByRole("button", { name: "Remove override" }).click();
  await expect(page.getByText("Nobody is on call for 3 parts of this week.")).toBeVisible();
  await page.getByRole("button", { name: "Next week" }).click();
  await expect(page).toHaveURL(/week=2030-06-10/);
  await page.getByRole("button", { name: "Previous week" }).click();
  await page.getByRole("button", { name: "This week" }).click();
  await expect(page).not.toHaveURL(/week=/);

  const openFeed = async () => {
    await page.getByRole("button", { name: "Actions for Ops" }).click();
    await page.getByRole("menuitem", { name: "Calendar URL" }).click();
  };
  await openFeed();
  await dialog.getByRole("button", { name: "Create URL" }).click();
  const url = (await dialog.getByRole("group", { name: "Calendar URL" }).textContent()) ?? "";
  const path = new URL(url).pathname;
  expect((await request.get(path)).status()).toBe(200);
  await page.keyboard.press("Escape");
  await openFeed();
  await expect(dialog).toContainText("It can’t be shown again, only replaced.");
  await dialog.getByRole("button", { name: "Replace URL" }).click();
  await page.getByRole("dialog", { name: "Replace the calendar URL?" }).getByRole("button", { name: "Replace URL" }).click();
  await expect(page.getByRole("group", { name: "Calendar URL" })).not.toHaveText(url);
  expect((await request.get(path)).status()).toBe(404);
  await page.keyboard.press("Escape");

  await api.post("policy/save", { name: "Production", steps: [{ notify: [{ scheduleid: id }] }] });
  await page.getByRole("button", { name: "Actions for Ops" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(dialog).toContainText("Still used by Production. Remove it there first.");
});

test("a policy is a timeline of steps, belongs to a monitor, and an alert names its next step", async ({ page, member }) => {
  const { api, email } = member;
  await notifier(api, "chat");
  const layers = [{ users: Object.values(await addPeople(api)), starts: "2026-01-05T09:00" }];
  await api.post("schedule/save", { name: "Ops", time_zone: "UTC", layers });
  await openPage(page, "/oncall/policy/new");
  const preview = page.getByRole("complementary").getByRole("listitem");
  await expect(preview).toHaveText(["at onceNobody yet"]);
  await page.getByRole("button", { name: "Create policy" }).click();
  await expect(page.getByText("Choose at least one.")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Production");
  const step = (place: number) => page.getByRole("group", { name: `Step ${place}` });
  const choose = async (place: number, ...names: string[]) => {
    for (const name of names) {
      await step(place).getByRole("textbox", { name: "Notify" }).click();
      await page.getByRole("option", { name, exact: true }).click();
    }
    await page.keyboard.press("Escape");
  };
  await choose(1, "everybody");
  for (const place of [2, 3]) {
    await page.getByRole("button", { name: "Add step" }).click();
    await choose(place, ...(place === 2 ? ["Ops", "chat"] : [email]));
  }
  await step(3).getByLabel("Wait after the previous step").fill("90m");
  await page.getByLabel("Repeat the steps").fill("2");
  await page.getByLabel("If it is acknowledged but lasts, continue after").fill("2h");
  await expect(preview).toHaveText(["at onceeverybody", "after 10 minOps (on call) and chat", `after 1 h 40 min${email}`]);
  await expect(page.getByRole("complementary")).toContainText("The steps are repeated 2 times, 30 min after the last one.");
  await expect(page.getByRole("complementary")).toContainText("An acknowledgement stops them for 2 h.");
  // The first step becomes the last one: its wait goes along.
  await page.getByRole("button", { name: "Move Step 1, 1 of 3" }).press("ArrowDown");
  await page.getByRole("button", { name: "Move Step 2, 2 of 3" }).press("ArrowDown");
  await page.getByRole("button", { name: "Create policy" }).click();
  const list = page.getByRole("list", { name: "Steps of Production" }).getByRole("listitem");
  await expect(list).toHaveText(["after 10 minOps (on call) and chat", `after 1 h 40 min${email}`, "after 1 h 40 mineverybody"]);

  const shop = await api.monitor({ name: "shop" });
  await openPage(page, `/monitor/${shop.monitorid}/edit`);
  await pick(page, "Escalation policy", "Production");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved shop.")).toBeVisible();
  await api.report(shop.monitorid, "up");
  await api.report(shop.monitorid, "down", { message: "disk full" });
  await expect
    .poll(async () => (await api.get<{ alerts: { next_step: object | null }[] }>("alerts")).alerts[0]?.next_step ?? null)
    .not.toBeNull();
  const [alert] = (await api.get<{ alerts: { alertid: string }[] }>("alerts")).alerts;
  await openPage(page, `/alert/${alert?.alertid ?? ""}`);
  await expect(page.getByText(new RegExp(`Next: step 1, .*chat.* in (10|9) min`))).toBeVisible();

  await openPage(page, "/oncall/policies");
  await page.getByRole("button", { name: "Actions for Production" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(dialog).toContainText("Still used by shop. Remove it there first.");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Actions for Production" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Remove step 3" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(list).toHaveCount(2);
});

test("routing rules are sorted by mouse and keyboard, saved together, and tried", async ({ page, member }) => {
  const { api } = member;
  const chat = await notifier(api, "chat");
  const phone = await notifier(api, "phone");
  const hours = [{ from: "00:00", to: "23:59" }];
  await api.post("notifier/save", { notifierid: phone, quiet: { hours, time_zone: "UTC" } });
  const { policy } = await api.post<{ policy: { policyid: string } }>("policy/save", {
    name: "Production",
    steps: [
      { after: 600, notify: [{ notifierid: chat }] },
      { after: 900, notify: [{ notifierid: phone }] },
    ],
  });
  const shop = await api.monitor({ name: "shop", tags: "prod", notifiers: phone, severity: "warning" });
  const stored = async () => await api.get<{ rules: Rule[]; revision: number }>("routing");
  await openPage(page, "/oncall/routing");
  await expect(page.getByText("No routing rules yet")).toBeVisible();
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("button", { name: "Add rule" }).click();
  await expect(dialog.getByText("Choose what it covers.")).toBeVisible();
  await dialog.getByLabel("Name").fill("production");
  await dialog.getByRole("textbox", { name: "With any of these tags" }).fill("prod");
  await page.keyboard.press("Enter");
  await dialog.getByRole("checkbox", { name: "Warning" }).check();
  await dialog.getByRole("checkbox", { name: "Outages" }).check();
  await pick(page, "Also notify", "chat");
  await page.keyboard.press("Escape");
  await pick(page, "Escalation policy", "Production");
  await dialog.getByRole("button", { name: "Add rule" }).click();
  for (const name of ["second", "third"]) {
    await page.getByRole("button", { name: "New rule" }).click();
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByRole("button", { name: "All monitors" }).click();
    await dialog.getByRole("switch", { name: "Stop here" }).check({ force: true });
    await dialog.getByRole("button", { name: "Add rule" }).click();
  }
  const rules = page.getByRole("list", { name: "Rules" }).getByRole("heading");
  await expect(rules).toHaveText(["production", "second", "third"]);
  await expect(page.getByText("tagged prod · Warning · Outages")).toBeVisible();
  await expect(page.getByText("Notify chat · Policy Production")).toBeVisible();
  await page.getByRole("button", { name: "Move production, 1 of 3" }).press("ArrowDown");
  await expect(rules).toHaveText(["second", "production", "third"]);
  const [from, to] = [page.getByRole("button", { name: "Move third, 3 of 3" }), page.getByRole("button", { name: "Move second, 1 of 3" })];
  const [start, end] = [await from.boundingBox(), await to.boundingBox()];
  if (!start || !end) throw new Error("the handles are not visible");
  await page.mouse.move(start.x + 10, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(end.x + 10, end.y + 4, { steps: 12 });
  await page.mouse.up();
  await expect(rules).toHaveText(["third", "second", "production"]);
  expect((await stored()).rules).toEqual([]);
  await page.getByRole("button", { name: "Save rules" }).click();
  await expect(page.getByText("Rules saved.")).toBeVisible();
  expect((await stored()).rules).toMatchObject([
    { name: "third", stop: true },
    { name: "second", stop: true },
    { name: "production", tags: ["prod"], notifiers: [chat], policyid: policy.policyid, severity: null },
  ]);

  // Somebody else saves meanwhile.
  await page.getByRole("button", { name: "Actions for third" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await api.post("routing/save", { rules: [{ name: "theirs", everything: true }] });
  await page.getByRole("button", { name: "Save rules" }).click();
  const notice = page.getByRole("alert").filter({ hasText: "Someone else has changed the rules meanwhile." });
  await notice.getByRole("button", { name: "Take their rules" }).click();
  await expect(rules).toHaveText(["theirs"]);
  await page.getByRole("button", { name: "Actions for theirs" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Name").fill("mine");
  await pick(page, "Also notify", "chat");
  await page.keyboard.press("Escape");
  await pick(page, "Escalation policy", "Production");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await api.post("routing/save", { rules: [] });
  await page.getByRole("button", { name: "Save rules" }).click();
  await notice.getByRole("button", { name: "Replace theirs with mine" }).click();
  await expect(notice).toHaveCount(0);
  expect((await stored()).rules).toMatchObject([{ name: "mine" }]);

  await pick(page, "Monitor", "shop");
  const tried = page.getByRole("list", { name: "Who would be notified" }).getByRole("listitem");
  const result = page.getByRole("region", { name: "Who would be notified" });
  await expect(result).toContainText("Severity: Warning · Escalation policy: Production · Rules: mine");
  await expect(tried).toHaveCount(3);
  await expect(tried.nth(0)).toContainText("at once");
  await expect(tried.nth(0)).toContainText(
    /phone notifier of the monitor waits for the end of quiet hours: .*23:59|phone notifier of the monitor waits/,
  );
  await expect(tried.nth(0)).toContainText("chat rule “mine”");
  await expect(tried.nth(1)).toHaveText("after 10 minchat step 1 of Production");
  await expect(tried.nth(2)).toContainText("step 2 of Production");
  // Critical messages pass the quiet hours.
  await pick(page, "Severity", "Critical");
  await expect(result).toContainText("Severity: Critical");
  await expect(result).not.toContainText("waits");
  const now = Date.now();
  const window = {
    name: "deploy",
    monitors: shop.monitorid,
    starts: new Date(now - 1000).toISOString(),
    ends: new Date(now + 3_600_000).toISOString(),
  };
  await api.post("maintenance/save", window);
  await pick(page, "Kind", "Certificates");
  await expect(result).toContainText("Maintenance deploy would suppress it.");
  await expect(tried).toHaveCount(1);
});

test("contacts, quiet hours, events and weights are set in their forms", async ({ page, request, member }) => {
  const { api, email } = member;
  const chat = await notifier(api, "chat");
  await openPage(page, "/settings");
  const contacts = page.locator("#contacts");
  await contacts.getByRole("button", { name: "Add contact" }).click();
  await contacts.getByRole("textbox", { name: "By" }).last().click();
  await page.getByRole("option", { name: "chat" }).click();
  await contacts.getByLabel("After").last().fill("soon");
  await contacts.getByRole("button", { name: "Save contacts" }).click();
  await expect(contacts.getByText("Enter a duration such as 30s, 5m or 1h.")).toBeVisible();
  await contacts.getByLabel("After").last().fill("10m");
  await contacts.getByRole("textbox", { name: "For" }).last().click();
  await page.getByRole("option", { name: "Critical only" }).click();
  await contacts.getByRole("button", { name: "Move Contact 2, 2 of 2" }).press("ArrowUp");
  await contacts.getByRole("button", { name: "Save contacts" }).click();
  await expect(page.getByText("Contacts saved.")).toBeVisible();
  expect((await api.get<{ rules: object[] }>("contacts")).rules).toEqual([
    { notifierid: chat, after: 600, min_severity: "critical" },
    { notifierid: "account", after: 0, min_severity: "info" },
  ]);
  await expect(contacts.getByRole("textbox", { name: "By" }).last()).toHaveValue(`Email to ${email}`);
  await page.getByRole("button", { name: "Create URL" }).click();
  const url = (await page.getByRole("group", { name: "Calendar URL" }).textContent()) ?? "";
  expect(await (await request.get(new URL(url).pathname)).text()).toContain("BEGIN:VCALENDAR");

  await openPage(page, `/notifier/${chat}/edit`);
  await page.getByText("Quiet hours and events").click();
  await pick(page, "Minimum severity", "Warning or more urgent");
  await page.getByRole("checkbox", { name: "Reminders" }).uncheck();
  await page.getByRole("checkbox", { name: "An alert is resolved" }).check();
  await page.getByRole("button", { name: "Add hours" }).click();
  await page.getByRole("checkbox", { name: "Sunday" }).check();
  await page.getByLabel("From").fill("00:00");
  await page.getByLabel("To", { exact: true }).fill("00:00");
  await pick(page, "Other messages", "Are not sent");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved chat.")).toBeVisible();
  const { notifiers } = await api.get<{ notifiers: { events: string[] }[] }>("notifiers");
  expect(notifiers[0]).toMatchObject({
    min_severity: "warning",
    quiet: { time_zone: "Europe/Berlin", hours: [{ days: ["sun"], from: "00:00", to: "24:00" }], except: "critical", then: "drop" },
  });
  expect(notifiers[0]?.events).toContain("alert.resolved");
  expect(notifiers[0]?.events).not.toContain("monitor.reminder");

  const [shop] = [await api.monitor({ name: "shop", tags: "web" }), await api.monitor({ name: "blog", tags: "web" })];
  await openPage(page, "/monitor/new?type=group");
  await page.getByLabel("Name", { exact: true }).fill("Web");
  await page.getByRole("textbox", { name: "Members by tag (optional)" }).fill("web");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Down when any of its 2 members is.")).toBeVisible();
  await pick(page, "Down when", "Members of a total weight are down");
  await page.getByLabel("Total weight").fill("3");
  await page.getByLabel("shop").fill("3");
  await expect(page.getByText("Down when members with a weight of 3 of 4 are.")).toBeVisible();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByText("Now monitoring Web.")).toBeVisible();
  const { monitors } = await api.get<{ monitors: { name: string; group?: object }[] }>("monitors");
  expect(monitors.find(({ name }) => name === "Web")?.group).toMatchObject({ rule: "weight:3", weights: { [shop.monitorid]: 3 } });
});

test("viewers and limited responders are offered nothing that is refused, and dialogs are accessible", async ({
  browser,
  page,
  baseURL,
  member,
}) => {
  const { api, email } = member;
  await createSampleData(member);
  const [viewer, limited] = [`viewer.${email}`, `limited.${email}`];
  await addPeople(api, viewer, limited);
  const ids = await addPeople(api);
  await api.post("member/save", { userid: ids[viewer], role: "viewer" });
  await api.post("member/save", { userid: ids[limited], tags: "prod" });
  for (const [address, overrides] of [
    [viewer, 0],
    [limited, 1],
  ] as const) {
    const other = await (await browser.newContext({ baseURL: baseURL ?? "", locale: "en-GB" })).newPage();
    await logIn(other, address);
    await openPage(other, "/oncall");
    await expect(other.getByRole("list", { name: "Shifts" })).toBeVisible();
    await expect(other.getByRole("button", { name: "Override", exact: true })).toHaveCount(overrides);
    await expect(other.getByRole("link", { name: "New schedule" })).toHaveCount(0);
    await expect(other.getByRole("button", { name: /Actions for/ })).toHaveCount(0);
    await openPage(other, "/oncall/policies");
    await expect(other.getByText("Ops (on call) and chat")).toBeVisible();
    await expect(other.getByRole("button", { name: /Actions for/ })).toHaveCount(0);
    await openPage(other, "/oncall/routing");
    await expect(other.getByRole("heading", { name: "production" })).toBeVisible();
    await expect(other.getByRole("button", { name: /Move|Actions for|New rule/ })).toHaveCount(0);
    await pick(other, "Monitor", "nightly backup");
    await expect(other.getByRole("region", { name: "Who would be notified" })).toContainText("Rules:");
    await other.context().close();
  }

  await page.evaluate(() => localStorage.setItem("wakeful.language", "de"));
  const dialogs: [path: string, open: () => Promise<void>][] = [
    ["/oncall", () => page.getByRole("button", { name: "Vertretung", exact: true }).click()],
    ["/oncall/routing", () => page.getByRole("button", { name: "Neue Regel" }).click()],
  ];
  for (const [path, open] of dialogs) {
    await openPage(page, path);
    await open();
    await expect(page.getByRole("dialog")).toHaveCSS("opacity", "1");
    expect(await axeViolations(page), path).toEqual([]);
    await switchScheme(page, "dark");
    expect(await axeViolations(page, COLOR_RULES), `${path}, dark`).toEqual([]);
    await switchScheme(page, "light");
  }
});
