/**
 * Push messages, from the switch to the button of the notification. The browser has no push service here: the page gets a
 * stand-in for `PushManager`, and what Wakeful sends to its address is handed to the service worker through DevTools.
 */
import type { BrowserContext, Page } from "@playwright/test";
import { axeViolations, openPage } from "./axe";
import { startPushService, type PushService } from "./push-service";
import { expect, test } from "./service";

test.use({ serviceWorkers: "allow", permissions: ["notifications"] });

interface Shown {
  title: string;
  tag: string;
  body: string;
}

/** Subscribes without a push service. */
async function standIn(page: Page, { subscription }: PushService) {
  await page.addInitScript((json) => {
    const stored = () => (localStorage.getItem("subscribed") === null ? null : fake);
    const fake = {
      endpoint: json.endpoint,
      toJSON: () => json,
      unsubscribe: () => {
        localStorage.removeItem("subscribed");
        return Promise.resolve(true);
      },
    };
    Object.assign(PushManager.prototype, {
      getSubscription: () => Promise.resolve(stored()),
      subscribe: ({ applicationServerKey, userVisibleOnly }: PushSubscriptionOptionsInit) => {
        if (typeof applicationServerKey !== "string" || applicationServerKey.length !== 87 || !userVisibleOnly)
          throw new Error("wrong options");
        localStorage.setItem("subscribed", "yes");
        return Promise.resolve(fake);
      },
    });
  }, subscription);
}

/** Hands a message to the service worker, as the push service of the browser does. */
async function courier(context: BrowserContext, page: Page): Promise<(data: string) => Promise<void>> {
  const session = await context.newCDPSession(page);
  const registrations = new Map<string, string>();
  session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: all }) => {
    for (const { scopeURL, registrationId, isDeleted } of all) if (!isDeleted) registrations.set(scopeURL, registrationId);
  });
  await session.send("ServiceWorker.enable");
  const scope = new URL("/", page.url());
  await expect.poll(() => registrations.get(scope.href)).toBeDefined();
  return async (data) => {
    const registrationId = registrations.get(scope.href) ?? "";
    await session.send("ServiceWorker.deliverPushMessage", { origin: scope.origin, registrationId, data });
  };
}

const shown = (page: Page): Promise<Shown[]> =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, tag, body }) => ({ title, tag, body }));
  });

/** A click on a notification, or on its button, which only the system could make. */
async function click(context: BrowserContext, action: string) {
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker.evaluate(async (chosen) => {
    const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; NotificationEvent: new (...all: unknown[]) => Event };
    const [notification] = await scope.registration.getNotifications();
    globalThis.dispatchEvent(new scope.NotificationEvent("notificationclick", { notification, action: chosen }));
  }, action);
}

test("a browser is subscribed, shows an outage, acknowledges it and shows its end", async ({ page, context, member: { api } }) => {
  const push = await startPushService();
  await standIn(page, push);
  await openPage(page, "/settings");
  const panel = page.locator("#push");
  await panel.getByRole("switch", { name: "Push messages in this browser" }).click({ force: true });
  await expect(page.getByText("This browser receives push messages.")).toBeVisible();
  await expect(panel.getByRole("listitem")).toContainText("This browser");
  expect(await axeViolations(page)).toEqual([]);
  const { rules } = await api.get<{ rules: { notifierid: string; after: number }[] }>("contacts");
  expect(rules.map(({ after }) => after)).toEqual([0, 0]);
  await expect(page.getByRole("textbox", { name: "By" }).nth(1)).toHaveValue("Push to my browsers");
  await panel.getByRole("button", { name: "Send test message" }).click();
  await expect.poll(() => push.messages.length).toBe(1);

  const deliver = await courier(context, page);
  // On a busy machine, Chromium now and then drops a message that DevTools hands over.
  const deliverUntilShown = (message = "", expected: object[]) =>
    expect(async () => {
      await deliver(message);
      await expect.poll(() => shown(page), { timeout: 2_000 }).toMatchObject(expected);
    }).toPass({ timeout: 15_000 });
  const { userid } = await api.get<{ userid: string }>("users/me");
  const { policy } = await api.post<{ policy: { policyid: string } }>("policy/save", {
    name: "Me",
    steps: [{ after: 0, notify: [{ userid }] }],
  });
  const { monitor } = await api.post<{ monitor: { monitorid: string } }>("monitor/save", {
    name: "Shop",
    type: "api",
    heartbeat_interval: 86400,
    isactive: true,
    upside_down_mode: false,
    policyid: policy.policyid,
  });
  await api.post(`monitor/notify/${monitor.monitorid}`, { status: "down" });
  await expect.poll(() => push.messages.length).toBe(2);
  await deliverUntilShown(push.messages[1], [{ title: "Shop is down" }]);
  await click(context, "acknowledge");
  // The browser closes it later than it is asked to, and would close its successor instead.
  await expect.poll(() => shown(page)).toEqual([]);
  const alert = async () => (await api.get<{ alerts: { status: string; alertid: string }[] }>("alerts")).alerts[0];
  await expect.poll(async () => (await alert())?.status).toBe("acknowledged");
  await expect.poll(() => push.messages.length).toBe(3);
  await deliverUntilShown(push.messages[2], [{ title: /^Shop: acknowledged by/ }]);
  await api.post(`monitor/notify/${monitor.monitorid}`, { status: "up" });
  await expect.poll(() => push.messages.length).toBe(4);
  await deliverUntilShown(push.messages[3], [{ title: "Shop is up again", tag: (await alert())?.alertid }]);
  // What cannot be read is shown nevertheless.
  await deliver("?");
  await expect.poll(async () => (await shown(page)).length).toBe(2);

  // Reloaded, the page still knows its browser; turned off, the list is empty.
  await page.reload();
  const onSwitch = panel.getByRole("switch", { name: "Push messages in this browser" });
  await expect(onSwitch).toBeChecked();
  await onSwitch.click({ force: true });
  await expect(page.getByText("This browser no longer receives push messages.")).toBeVisible();
  await expect(panel.getByText("this contact reaches nobody")).toBeVisible();
  await expect(panel.getByRole("listitem")).toHaveCount(0);
  await push.close();
});

test.describe("without permission", () => {
  test.use({ permissions: [] });

  test("the page says why a browser cannot be subscribed", async ({ page, member: _member }) => {
    await page.addInitScript(() => {
      Object.defineProperty(Notification, "permission", { get: () => "denied" });
    });
    await openPage(page, "/settings");
    const panel = page.locator("#push");
    await expect(panel.getByText("Notifications are blocked for this site.")).toBeVisible();
    await expect(panel.getByRole("switch")).toBeDisabled();
    await page.addInitScript(() => {
      Reflect.deleteProperty(window, "PushManager");
    });
    await page.reload();
    await expect(panel.getByText("This browser can’t receive push messages.")).toBeVisible();
  });
});
