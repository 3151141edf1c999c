import { apiOf, expect, logIn, test, type Api } from "../e2e/service";

const FOLDER = "../docs/screenshots";

// The account, the monitors and their history are those of the demo.
const DEMO = { email: "demo@example.com", password: "wakeful demo 1" };

test.use({ flags: ["--demo"], settings: { WAKEFUL_BILLING_ENABLED: "true" } });

/** A schedule with nights and a gap at the weekend, a policy and two rules. */
async function createOnCallData(api: Api, monitorid: string) {
  const people = ["ann", "bob", "eve"].map((name) => `${name}@example.com`);
  const password = "wakeful demo 1";
  for (const email of people) await api.post("team/save", { email, password1: password, password2: password, role: "responder" });
  const { members } = await api.get<{ members: { userid: string; email: string }[] }>("team/members");
  const [ann, bob, eve] = people.map((address) => members.find(({ email }) => email === address)?.userid);
  const starts = "2026-01-05T09:00";
  const week = {
    name: "Week",
    users: [ann, bob],
    starts,
    hours: [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "00:00", to: "24:00" }],
  };
  const night = { name: "Nights", users: [eve], starts, hours: [{ days: ["mon", "tue", "wed", "thu"], from: "22:00", to: "06:00" }] };
  const weekend = { name: "Saturday", users: [bob, ann], starts, hours: [{ days: ["sat"], from: "00:00", to: "24:00" }] };
  const ops = { name: "Ops", time_zone: "Europe/Berlin", layers: [week, night, weekend] };
  const { schedule } = await api.post<{ schedule: { scheduleid: string } }>("schedule/save", ops);
  const { scheduleid } = schedule;
  const day = 86_400_000;
  // At noon tomorrow.
  const later = (Math.floor(Date.now() / day) + 1.5) * day;
  const time = (offset: number) => new Date(later + offset).toISOString();
  await api.post(`schedule/${scheduleid}/override`, { userid: eve, starts: time(0), ends: time(28_800_000) });
  const database = { name: "Database", time_zone: "UTC", layers: [{ users: [bob, eve], starts, every: 2, unit: "day" }] };
  await api.post("schedule/save", database);
  const hook = { name: "#ops", type: "webhook", webhook: { url: "https://hooks.slack.com/services/T0/B0/x", template: "slack" } };
  const { notifierid } = await api.post<{ notifierid: string }>("notifier/save", hook);
  const quiet = { time_zone: "UTC", hours: [{ from: "00:00", to: "23:59" }], except: "critical" };
  const chat = { name: "Team channel", type: "webhook", webhook: hook.webhook, quiet };
  const { notifierid: channel } = await api.post<{ notifierid: string }>("notifier/save", chat);
  const steps = [
    { after: 0, notify: [{ notifierid }] },
    { after: 600, notify: [{ notifierid }, { notifierid: channel }] },
  ];
  const production = { name: "Production", steps, repeat: 1, every: 1800 };
  const { policy } = await api.post<{ policy: { policyid: string } }>("policy/save", production);
  const rules = [
    { name: "Shop", monitors: [monitorid], kinds: ["outage"], policyid: policy.policyid, notifiers: channel, severity: "warning" },
    { name: "Everything else", everything: true, severities: ["critical"], notifiers: notifierid },
  ];
  await api.post("routing/save", { rules });
}

/** A published page with the demo's monitors, an open incident and a rule. */
async function createStatuspage(api: Api, monitors: readonly { monitorid: string; name: string }[]): Promise<string> {
  const components = monitors.slice(0, 6).map(({ monitorid, name }) => ({ name, monitors: [monitorid] }));
  const sections = [
    { name: "Shop", components: components.slice(0, 3) },
    { name: "Infrastructure", components: components.slice(3) },
  ];
  const page = { name: "Example status", published: true, languages: ["de"], sections, rules: [{ name: "Outages" }] };
  const { statuspage } = await api.post<{ statuspage: { pageid: string } }>("statuspage/save", page);
  const update = { status: "identified", body: "Images load **slowly**. We are moving them to another region." };
  await api.post("incident/save", { pageids: [statuspage.pageid], title: "Slow images", update });
  return statuspage.pageid;
}

test("screenshots", async ({ page, request }) => {
  test.setTimeout(240_000);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await logIn(page, DEMO.email, DEMO.password);
  const api = await apiOf(request, DEMO.email, DEMO.password);
  await page.goto("/monitor/new");
  await page.getByLabel("URL").blur();
  await page.screenshot({ path: `${FOLDER}/new.png` });

  const row = (name: string) => page.locator("[data-row]").filter({ hasText: name });
  const { monitors } = await api.get<{ monitors: { monitorid: string; name: string }[] }>("monitors");
  const broken = monitors.find(({ name }) => name === "Image CDN")?.monitorid ?? "";

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/");
    await expect(row("Image CDN")).toHaveAttribute("data-state", "down");
    await expect(row("Warehouse gateway").getByRole("img", { name: "Last 30 checks" })).toBeVisible({ timeout: 30_000 });
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${FOLDER}/dashboard-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`/monitor/${broken}`);
  await page.getByRole("button", { name: "30 d", exact: true }).click();
  await expect(page.locator("[data-old]")).toHaveCount(0);
  await expect(page.getByRole("row", { name: /^1 year/ })).toContainText("%", { timeout: 30_000 });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${FOLDER}/monitor.png`, fullPage: true });

  await page.goto("/notifier/new");
  await expect(page.getByRole("button", { name: /^Slack/ })).toBeVisible();
  await page.getByLabel("Search kinds").blur();
  await page.screenshot({ path: `${FOLDER}/notifiers.png` });
  await page.goto("/notifier/new?kind=slack");
  await page.getByLabel("Channel ID").fill("C024BE91L");
  await expect(page.getByRole("group", { name: "Preview" })).toContainText("Storefront");
  await page.getByLabel("Channel ID").blur();
  await page.screenshot({ path: `${FOLDER}/notifier.png` });

  await createOnCallData(api, monitors.find(({ name }) => name === "Storefront")?.monitorid ?? broken);
  await page.goto("/oncall");
  await expect(page.getByRole("list", { name: "Shifts" })).toBeVisible();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${FOLDER}/oncall.png`, fullPage: true });
  await page.goto("/oncall/routing");
  await page.getByRole("textbox", { name: "Monitor" }).fill("Storefront");
  await page.getByRole("option", { name: "Storefront" }).first().click();
  await expect(page.getByRole("region", { name: "Who would be notified" })).toContainText("Production");
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${FOLDER}/routing.png`, fullPage: true });

  const pageid = await createStatuspage(api, monitors);
  await page.goto(`/statuspage/${pageid}`);
  await expect(page.frameLocator("iframe[title=Preview]").getByRole("main")).toContainText("Slow images");
  await page.screenshot({ path: `${FOLDER}/statuspage.png` });

  const card = {
    cardholderName: "Ann Example",
    cardNumber: "4242424242424242",
    expiryMonth: 4,
    expiryYear: 2039,
    cvc: "123",
    zipCode: "1",
  };
  await api.post("membership/save", { plan: "pro", method: "new", ...card });
  await page.goto("/billing");
  await expect(page.getByText("Paid", { exact: true })).toBeVisible();
  await page.screenshot({ path: `${FOLDER}/billing.png`, fullPage: true });

  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  await expect(row("Image CDN")).toContainText("%", { timeout: 30_000 });
  await page.screenshot({ path: `${FOLDER}/phone.png` });
});
