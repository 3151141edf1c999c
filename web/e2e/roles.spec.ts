/** Every role: the pages offer what it may do and nothing else, and nothing that they load is refused. */
import type { Browser, Page } from "@playwright/test";
import { axeViolations, horizontalOverflow, openPage } from "./axe";
import { expect, logIn, PASSWORD, test, type Member } from "./service";

test.use({ settings: { WAKEFUL_BILLING_ENABLED: "true" } });

const roles = ["owner", "admin", "editor", "responder", "viewer", "billing"] as const;
type Role = (typeof roles)[number];
type Permission = "view" | "respond" | "edit" | "people" | "bills" | "pay";

interface Visit {
  path: string;
  /** What the page itself needs, and the heading without it. */
  needs?: [Permission, heading: string];
  /** What the page shows once it is loaded. Without it, the other tests open the page for those who may. */
  shows?: string;
  /** Links, buttons and checkboxes by the permission they need. */
  offers?: Partial<Record<Permission, string[]>>;
}

/** A team in which every action is possible. */
async function createTeam({ api }: Member, target: string): Promise<Visit[]> {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/secret" } };
  const { notifierid } = await api.post<{ notifierid: string }>("notifier/save", hook);
  const shop = await api.monitor({ name: "shop", type: "http", http: { url: target }, notifiers: notifierid });
  const job = await api.monitor({ name: "job", notifiers: notifierid });
  await api.monitor({ name: "alone" });
  const hour = 3_600_000;
  const deploy = {
    name: "deploy",
    monitors: shop.monitorid,
    starts: new Date().toISOString(),
    ends: new Date(Date.now() + hour).toISOString(),
  };
  const { maintenance } = await api.post<{ maintenance: { maintenanceid: string } }>("maintenance/save", deploy);
  // Nothing listens there: the message about it waits for its next attempt.
  await api.report(job.monitorid, "down", { message: "disk full" });
  const { alerts } = await api.get<{ alerts: { alertid: string }[] }>("alerts");
  const view: Visit["needs"] = ["view", "You need the role Viewer"];
  const edit: Visit["needs"] = ["edit", "You need the role Editor"];
  const again = "Retry now: message about job";
  return [
    {
      path: "/",
      shows: "shop",
      offers: { respond: ["Actions for shop", "Actions for job"], edit: ["New monitor", "Select all", "Select shop"] },
    },
    {
      path: `/monitor/${shop.monitorid}`,
      needs: view,
      shows: "chat",
      offers: { respond: ["Check now", "Mute", "End now"], edit: ["Pause", "Edit", "More actions"] },
    },
    { path: `/monitor/${job.monitorid}`, needs: view, shows: "chat", offers: { respond: [again], edit: ["Replace push URL"] } },
    { path: `/monitor/${shop.monitorid}/edit`, needs: edit },
    { path: "/monitor/new", needs: edit },
    { path: "/alerts", needs: view, shows: "chat", offers: { respond: [again, "Select the alert for job"] } },
    {
      path: `/alert/${alerts[0]?.alertid ?? ""}`,
      needs: view,
      shows: "disk full",
      offers: { respond: [again, "Acknowledge", "Snooze", "Assign", "Severity", "Resolve", "Add comment"] },
    },
    {
      path: "/maintenance",
      needs: view,
      shows: "deploy",
      offers: { respond: ["New window", "Actions for deploy"] },
    },
    {
      path: `/maintenance/${maintenance.maintenanceid}`,
      needs: view,
      shows: "shop",
      offers: { respond: ["End now", "Extend", "Edit", "More actions"] },
    },
    { path: "/maintenance/new", needs: ["respond", "You need the role Responder"] },
    { path: "/notifiers", needs: view, shows: "chat", offers: { edit: ["New notifier"] } },
    {
      path: `/notifier/${notifierid}`,
      needs: view,
      shows: "is down",
      offers: {
        respond: ["Send test", again],
        edit: ["Edit", "More actions", "Stop notifying about shop", "Add to all monitors", "Rotate secret"],
      },
    },
    { path: `/notifier/${notifierid}/edit`, needs: edit },
    { path: "/team", shows: "Owner", offers: { people: ["Add user", "New service account"] } },
    {
      path: "/billing",
      needs: ["bills", "You need the role Admin or Billing"],
      shows: "Business",
      offers: { pay: ["Choose Starter", "Add card"] },
    },
    { path: "/settings", shows: "Delete my account", offers: { bills: ["See plans"] } },
  ];
}

async function join(member: Member, role: Role): Promise<string> {
  const email = `${role}.${member.email}`;
  await member.api.post("team/save", { email, password1: PASSWORD, password2: PASSWORD, role });
  return email;
}

/** A browser of its own, and the requests that it was refused. */
async function open(browser: Browser, baseURL: string | undefined) {
  const page = await (await browser.newContext({ baseURL: baseURL ?? "", locale: "en-GB" })).newPage();
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  return { page, refused };
}

const rank = (permissions: readonly Permission[], permission: Permission) => (permissions.includes(permission) ? 0 : 1);

const offered = (page: Page, name: string) =>
  page
    .getByRole("button", { name, exact: true })
    .or(page.getByRole("link", { name, exact: true }))
    .or(page.getByRole("checkbox", { name, exact: true }))
    .first();

for (const role of roles) {
  test(`the role ${role} is offered what it may do on every page, and nothing else`, async ({ browser, baseURL, member, service }) => {
    const visits = await createTeam(member, service.target.url);
    const { page, refused } = await open(browser, baseURL);
    await logIn(page, role === "owner" ? member.email : await join(member, role));
    const { permissions } = (await (await page.request.get("/api/v1/users/me")).json()) as { permissions: Permission[] };
    const landing = permissions.includes("view") ? "/" : "/billing";
    await expect(page).toHaveURL(new RegExp(`${landing}$`));
    for (const { path, needs, shows, offers = {} } of visits) {
      const may = !needs || permissions.includes(needs[0]);
      if (may && shows === undefined) continue;
      await openPage(page, path);
      const heading = page.getByRole("heading", { level: 1 });
      if (!may) {
        await expect(heading, path).toHaveText(needs[1]);
        await expect(page.getByRole("main").getByRole("button"), path).toHaveCount(0);
        continue;
      }
      await expect(heading, path).not.toHaveText(/You need/);
      if (path === "/" && landing !== "/") continue;
      await expect(
        page
          .getByRole("main")
          .getByText(shows ?? "")
          .first(),
        path,
      ).toBeVisible();
      const entries = Object.entries(offers) as [Permission, string[]][];
      // First what is there, so that what loads late is not missing by chance.
      for (const [permission, names] of entries.toSorted(([a], [b]) => rank(permissions, a) - rank(permissions, b))) {
        for (const name of names) {
          const found = expect(offered(page, name), `${path}: ${name}`);
          if (permissions.includes(permission)) await found.toBeVisible();
          else await found.toHaveCount(0);
        }
      }
    }
    expect(refused).toEqual([]);
    await page.context().close();
  });
}

test("keys, the command palette and the list of shortcuts offer a viewer no changes", async ({ browser, baseURL, member }) => {
  await member.api.monitor({ name: "job" });
  const { page, refused } = await open(browser, baseURL);
  await logIn(page, await join(member, "viewer"));
  await expect(page.locator("[data-row]")).toHaveCount(1);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("n");
  await expect(page.getByRole("toolbar")).toHaveCount(0);
  await expect(page).toHaveURL(/\/$/);
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(dialog).toContainText("Next monitor");
  await expect(dialog).not.toContainText(/New|Select|selection/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  const options = page.getByRole("option");
  await expect(options.filter({ hasText: "job" })).toBeVisible();
  await page.getByRole("dialog").getByRole("combobox").fill("new");
  // Everyone may create a team, which is their own.
  await expect(page.getByRole("dialog").getByRole("option")).toHaveText(["New team"]);
  expect(refused).toEqual([]);
  await page.context().close();
});

test("the role billing sees the plan and nothing that is monitored, and never asks for it", async ({ browser, baseURL, member }) => {
  await member.api.monitor({ name: "job" });
  const { page, refused } = await open(browser, baseURL);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.clock.install();
  await logIn(page, await join(member, "billing"));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Billing");
  const navigation = page.getByRole("navigation", { name: "Main" });
  await expect(navigation.getByRole("link")).toHaveText(["Team", "Billing", "Settings"]);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(navigation.getByRole("link", { name: "Billing" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option", { name: "Billing" })).toBeVisible();
  await page.getByRole("dialog").getByRole("combobox").fill("monitor");
  await expect(page.getByRole("dialog").getByRole("status")).toHaveText("Nothing found.");
  await page.keyboard.press("Escape");
  await openPage(page, "/nothing/here");
  await page.getByRole("main").getByRole("link", { name: "Billing" }).click();
  await expect(page.getByRole("region", { name: "Current plan" })).toBeVisible();
  // Longer than any interval of polling.
  await page.clock.runFor(400_000);
  expect(asked.filter((path) => /monitor|notifier|event|alert|region/.test(path))).toEqual([]);
  expect(refused).toEqual([]);
  await page.context().close();
});

test("a new role takes effect in an open page", async ({ browser, baseURL, member }) => {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/secret" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  const { monitorid } = await member.api.monitor({ name: "job" });
  const email = await join(member, "viewer");
  const { members } = await member.api.get<{ members: { email: string; userid: string }[] }>("team/members");
  const userid = members.find((other) => other.email === email)?.userid;
  const assign = (role: Role) => member.api.post("team/save", { userid, email, role });
  const { page } = await open(browser, baseURL);
  await page.clock.install();
  await logIn(page, email);
  await page.goto(`/notifier/${notifierid}`);
  await expect(page.getByText("Signing secret Hidden")).toBeVisible();
  await assign("editor");
  // The user is fetched again when someone returns to the page after a while.
  await page.clock.fastForward(61_000);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
  await page.getByRole("link", { name: "Edit" }).click();
  // With its secret: what was fetched for the viewer cannot be saved.
  await expect(page.getByLabel("Webhook URL")).toHaveValue("http://127.0.0.1:9/secret");

  await page.goto(`/monitor/${monitorid}`);
  const pause = page.getByRole("button", { name: "Pause" });
  await expect(pause).toBeVisible();
  await assign("responder");
  await pause.click();
  await expect(page.getByText("Your role doesn’t allow this.")).toBeVisible();
  await expect(pause).toHaveCount(0);
  await page.goto("/monitor/new");
  await expect(page.getByRole("main")).toContainText("Your role is Responder.");
  await page.getByRole("main").getByRole("link", { name: "Monitors" }).click();
  await expect(page.locator("[data-row]")).toHaveCount(1);
  await page.context().close();
});

test("owners see once that everyone in their team is an owner", async ({ page, member }) => {
  const notice = page.getByRole("region", { name: "Choose roles" });
  await openPage(page, "/");
  await expect(notice).toHaveCount(0);
  await join(member, "owner");
  await openPage(page, "/");
  await expect(notice).toContainText("Everybody in your team is an owner.");
  expect(await axeViolations(page)).toEqual([]);
  await notice.getByRole("link", { name: "Choose roles" }).click();
  await expect(page).toHaveURL(/\/team$/);
  await expect(notice).toHaveCount(0);
  await openPage(page, "/");
  await notice.getByRole("button", { name: "Dismiss" }).click();
  await expect(notice).toHaveCount(0);
  await openPage(page, "/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(notice).toHaveCount(0);
  // Another team may still need roles.
  await page.evaluate(() => localStorage.clear());
  await openPage(page, "/");
  await expect(notice).toBeVisible();
  await join(member, "viewer");
  await openPage(page, "/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(notice).toHaveCount(0);
});

test("axe finds nothing on a viewer's pages, and they fit a phone, in both languages", async ({ browser, baseURL, member }) => {
  const email = await join(member, "viewer");
  const { page } = await open(browser, baseURL);
  await logIn(page, email);
  await expect(page.getByText("Editors of your team can add them.")).toBeVisible();
  expect(await axeViolations(page), "no monitors").toEqual([]);
  const job = await member.api.monitor({ name: "job", tags: "prod" });
  const views = [
    { language: "en", width: 1280, paths: ["/?group=tag", `/monitor/${job.monitorid}`] },
    { language: "de", width: 390, paths: ["/", "/monitor/new"] },
  ];
  for (const { language, width, paths } of views) {
    await page.evaluate((chosen) => localStorage.setItem("wakeful.language", chosen), language);
    await page.setViewportSize({ width, height: 860 });
    for (const path of paths) {
      await openPage(page, path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      expect(await axeViolations(page), `${path}, ${language}`).toEqual([]);
      expect(await horizontalOverflow(page), `${path}, ${language}`).toBeLessThanOrEqual(0);
    }
  }
  await page.context().close();
});
