import { startHook, startMailServer } from "./receiver";
import { choose, chooseKind, expect, test, type Api } from "./service";

test("a webhook is created, shows its secret once, is tested, and its response is shown", async ({ page, member: _member }) => {
  const hook = await startHook();
  await page.goto("/notifiers");
  await expect(page.getByText("No one is notified yet")).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "New notifier" }).click();
  await chooseKind(page, "Webhook");
  await page.getByLabel("Webhook URL").fill(hook.url);
  await page.getByLabel("Name", { exact: true }).fill("pager");
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByRole("group", { name: "Signing secret" })).toHaveText(/^whsec_/);
  await page.getByRole("button", { name: "I’ve saved it" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("pager");
  await expect(page.getByText("whsec_")).toHaveCount(0);

  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered" })).toContainText("noted, thanks");
  expect(hook.bodies.at(-1)).toContain("notifier.test");

  hook.status = 500;
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test failed" })).toContainText("500");

  hook.status = 200;
  await page.getByRole("button", { name: "Rotate secret" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
  await expect(page.getByRole("group", { name: "Signing secret" })).toHaveText(/^whsec_/);
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered" })).toBeVisible();
  expect(hook.signatures.at(-1)?.split(" "), "both secrets sign for a day").toHaveLength(2);
  hook.close();
});

test("mail is sent through the configured server, and a refused connection is shown", async ({ page, member: _member }) => {
  const mailServer = await startMailServer();
  await page.goto("/notifier/new?kind=email");
  await page.getByLabel("To", { exact: true }).fill("ops@example.com, dev@example.com");
  await page.getByLabel("Subject").fill("{{ name }}: {{ status }}");
  await page.getByLabel("Host").fill("127.0.0.1");
  await page.getByLabel("Port").fill(String(mailServer.port));
  await page.getByRole("textbox", { name: "Security" }).click();
  await page.getByRole("option", { name: "None" }).click();
  await page.getByLabel("From").fill("wakeful@example.com");
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("ops@example.com");
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered" })).toContainText("queued as 1");
  expect(mailServer.emails.join("\n")).toContain("dev@example.com");
  mailServer.close();

  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page.getByRole("radio")).toHaveCount(0);
  await page.getByLabel("Port").fill("9");
  await page.getByRole("button", { name: "Save" }).click();
  // The form has a button of the same name, which would be clicked until it is gone.
  await expect(page.getByRole("link", { name: "Edit" })).toBeVisible();
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test failed" })).toContainText(/refused/i);
});

test("invalid fields show their errors, and the values remain", async ({ page, member: _member }) => {
  await page.goto("/notifier/new?kind=email");
  await page.getByLabel("To", { exact: true }).fill("not an address");
  await page.getByRole("button", { name: "Create notifier" }).click();
  for (const label of ["To", "Host", "From"]) {
    await expect(page.getByLabel(label, { exact: true }), label).toHaveAttribute("aria-invalid", "true");
  }
  await expect(page.getByLabel("To", { exact: true })).toBeFocused();
  await page.getByLabel("To", { exact: true }).fill("");
  await page.getByRole("button", { name: "Choose another" }).click();
  await chooseKind(page, "Custom webhook");
  await page.getByLabel("Webhook URL").fill("gopher://example.com");
  await page.getByRole("textbox", { name: "Template" }).fill("{% if text %}");
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByLabel("Webhook URL")).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Webhook URL").fill("https://example.com/hook");
  await page.getByRole("button", { name: "Create notifier" }).click();
  await expect(page.getByRole("textbox", { name: "Template" })).toHaveAttribute("aria-invalid", "true");
  await page.getByRole("link", { name: "Team" }).click();
  await expect(page.getByRole("dialog")).toContainText("Leave without saving?");
});

test("a refused message is being retried, says why, and can be retried at once", async ({ page, member }) => {
  const hook = await startHook();
  hook.status = 500;
  const made = { name: "on call", type: "webhook", webhook: { url: hook.url } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", made);
  const { monitorid } = await member.api.monitor({ name: "backup", notifiers: notifierid });
  await member.api.report(monitorid, "down", { message: "disk full" });
  await expect.poll(() => hook.bodies.length).toBe(1);

  await page.goto("/alerts");
  const alert = page.getByRole("listitem").filter({ hasText: "disk full" });
  await expect(alert.first()).toContainText("on call: outage retrying");
  await expect(alert.first()).toContainText("next attempt");
  await expect(alert.first()).toContainText("no room");
  await alert.getByRole("button", { name: "Retry now: message about backup" }).click();
  await expect.poll(() => hook.bodies.length).toBeGreaterThan(1);

  await page.goto(`/notifier/${notifierid}`);
  const sent = page.getByRole("listitem").filter({ hasText: "is down" });
  await expect(sent).toContainText("Retrying");
  hook.status = 200;
  await sent.getByRole("button", { name: "Retry now: message about backup" }).click();
  await expect(sent).toContainText("Delivered");
  hook.close();
});

test("a notifier chosen in the form is notified of an outage, and a message can be sent again", async ({ page, member }) => {
  const hook = await startHook();
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", {
    name: "on call",
    type: "webhook",
    webhook: { url: hook.url },
  });
  await page.goto("/monitor/new");
  await choose(page, /^Push/);
  await page.getByLabel("Name", { exact: true }).fill("backup");
  await expect(page.getByText("No one is notified when this goes down.")).toBeVisible();
  await page.getByRole("checkbox", { name: "on call" }).check();
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("backup");
  const monitorid = page.url().split("/").at(-1) ?? "";
  await member.api.report(monitorid, "up");
  await member.api.report(monitorid, "down", { message: "disk full" });
  await expect(page.getByText("on call: outage delivered")).toBeVisible();

  await page.goto(`/notifier/${notifierid}`);
  const sent = page.getByRole("listitem").filter({ hasText: "is down" });
  await expect(sent).toContainText("Delivered");
  await sent.getByRole("button", { name: "Resend the message about backup" }).click();
  await expect.poll(() => hook.bodies.filter((body) => body.includes("monitor.down")).length).toBe(2);

  hook.status = 410;
  await member.api.report(monitorid, "up");
  await expect(page.getByText("This notifier is off")).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("listitem").filter({ hasText: "has recovered" })).toContainText("Failed");
  hook.status = 200;
  await page.getByRole("button", { name: "Turn on" }).click();
  await expect(page.getByText("This notifier is off")).toBeHidden();

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("dialog").getByRole("alert")).toContainText("backup");
  hook.close();
});

test("notifiers are added to and removed from many monitors at once", async ({ page, member }) => {
  await member.api.post("notifier/save", { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } });
  for (const name of ["one", "two", "three"]) await member.api.monitor({ name });
  const change = async (way: string) => {
    await page.goto("/");
    for (const name of ["one", "two"]) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("toolbar").getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Change for chat").selectOption(way);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Changed 2 monitors.")).toBeVisible();
  };
  await change("Add");
  await page.goto("/notifiers");
  await expect(page.getByRole("listitem").filter({ hasText: "chat" })).toContainText("2 monitors");
  await change("Remove");
  await page.goto("/notifiers");
  await expect(page.getByRole("listitem").filter({ hasText: "chat" })).toContainText("not used");
});

test("the message is previewed while its template is edited, for every event, and errors are shown", async ({ page, member: _member }) => {
  await page.goto("/notifier/new?kind=own");
  const preview = page.getByRole("group", { name: "Preview" });
  await expect(preview).toContainText('"content": "[Storefront] down: 503 Service Unavailable"');
  await page.getByRole("button", { name: "Reminder" }).click();
  await expect(preview).toContainText("[Storefront] still down");
  await page.getByRole("button", { name: "Recovered" }).click();
  await expect(preview).toContainText("[Storefront] up: 200 OK");
  await page.getByRole("textbox", { name: "Template" }).fill('{"said": {{ text|upper|tojson }}}');
  await expect(preview).toContainText('"said": "[STOREFRONT] UP: 200 OK"');
  await page.getByRole("textbox", { name: "Template" }).fill("{% if text %}");
  await expect(preview).toBeHidden();
  await page.goto("/notifier/new?kind=slack");
  await expect(preview).toContainText("Storefront");
  await page.goto("/notifier/new?kind=email");
  await page.getByRole("button", { name: "Recovered" }).click();
  await page.getByLabel("Subject").fill("{{ name }} says {{ status }}");
  await expect(page.getByText("Storefront says up")).toBeVisible();
});

interface Saved {
  notifierid: string;
}

/** A monitor whose outage is reported through a notifier. */
async function outage(api: Api, notifierid: string): Promise<string> {
  const { monitorid } = await api.monitor({ name: "backup", notifiers: notifierid });
  await api.report(monitorid, "up");
  await api.report(monitorid, "down", { message: "disk full" });
  return monitorid;
}

test("a failing notifier is shown in the list, on its page, in the navigation and as a banner", async ({ page, member }) => {
  const hook = await startHook();
  hook.status = 500;
  const { notifierid } = await member.api.post<Saved>("notifier/save", { name: "on call", type: "webhook", webhook: { url: hook.url } });
  await page.goto("/notifiers");
  const listed = page.getByRole("main").getByRole("listitem").filter({ hasText: "on call" });
  await expect(listed).toContainText("Nothing sent yet");
  await outage(member.api, notifierid);
  await expect(listed).toContainText("Failing", { timeout: 20_000 });
  await expect(listed).toContainText("500");
  await page.goto("/");
  await expect(page.getByRole("status").filter({ hasText: "on call isn’t delivering notifications." })).toContainText("500");
  await expect(page.getByRole("link", { name: "Notifiers 1 notifier is failing" })).toBeVisible();
  await page.getByRole("link", { name: "Show", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("on call");
  await expect(page.getByRole("status").filter({ hasText: "Nothing has been delivered since" })).toContainText("500");
  hook.status = 200;
  await page.getByRole("button", { name: /^Retry/ }).click();
  await expect(page.getByText("Working", { exact: true })).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText("Nothing has been delivered since")).toBeHidden();
  hook.close();
});

test("the health of notifiers is fetched after a monitor has changed its status, and rarely otherwise", async ({ page, member }) => {
  const hook = await startHook();
  hook.status = 500;
  const { notifierid } = await member.api.post<Saved>("notifier/save", { name: "on call", type: "webhook", webhook: { url: hook.url } });
  await member.api.monitor({ name: "calm" });
  await page.clock.install();
  // So that the first response is not that of the page after the login.
  await page.goto("about:blank");
  const first = page.waitForResponse("**/api/v1/notifiers");
  await page.goto("/");
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await first;
  // React shows the badge and the banner one after the other.
  await page.clock.runFor(2_000);
  let fetched = 0;
  page.on("request", (request) => (fetched += Number(new URL(request.url()).pathname === "/api/v1/notifiers")));
  await page.clock.fastForward("04:00");
  // Requests are reported in order, so this one comes after any that the timers have sent.
  await page.evaluate(() => fetch("/api/v1/session"));
  expect(fetched).toBe(0);
  await outage(member.api, notifierid);
  await expect(page.getByRole("link", { name: "Notifiers 1 notifier is failing" })).toBeVisible({ timeout: 40_000 });
  hook.close();
});

test("recipients that the mail server refuses are named in the test, the delivery and the alert", async ({ page, member }) => {
  const mailServer = await startMailServer();
  mailServer.refused = ["gone@example.com"];
  const email = { hostname: "127.0.0.1", port: mailServer.port, security: "none", from_email: "w@example.com" };
  const { notifierid } = await member.api.post<Saved>("notifier/save", {
    name: "ops",
    type: "email",
    email: { ...email, to_email: "ops@example.com, gone@example.com" },
  });
  const refused = "Delivered to 1 of 2; refused: gone@example.com (550 5.1.1 no such user)";
  await page.goto(`/notifier/${notifierid}`);
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered to some recipients" })).toContainText(refused);
  await outage(member.api, notifierid);
  const sent = page.getByRole("listitem").filter({ hasText: "is down" });
  await expect(sent).toContainText("Partly delivered", { timeout: 20_000 });
  await expect(sent).toContainText(refused);
  await page.goto("/alerts");
  await expect(page.getByRole("listitem").filter({ hasText: "ops: outage partly delivered" }).first()).toContainText(refused);
  mailServer.close();
});

test("an alert lists each notifier once, with outage and recovery", async ({ page, member }) => {
  const hook = await startHook();
  const { notifierid } = await member.api.post<Saved>("notifier/save", { name: "pager", type: "webhook", webhook: { url: hook.url } });
  const monitorid = await outage(member.api, notifierid);
  await member.api.report(monitorid, "up");
  await page.goto("/alerts?tab=over");
  await expect(page.getByText("pager: outage delivered · recovery delivered")).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("main").getByRole("link", { name: "pager" })).toHaveCount(1);
  hook.close();
});

test("a notifier is tested before it is saved, and errors are shown at their fields", async ({ page, member }) => {
  const hook = await startHook();
  await page.goto("/notifier/new?kind=standard");
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByLabel("Webhook URL")).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Webhook URL").fill(hook.url);
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test delivered" })).toContainText("noted, thanks");
  expect(hook.bodies).toHaveLength(1);
  expect((await member.api.get<{ notifiers: object[] }>("notifiers")).notifiers).toEqual([]);
  hook.close();
});

test("the mail is previewed as it will look", async ({ page, member: _member }) => {
  await page.goto("/notifier/new?kind=email");
  const mail = page.frameLocator('iframe[title="Preview"]');
  await expect(mail.getByRole("heading", { name: "Storefront is down" })).toBeVisible();
  // The styles of the mail are applied, although the content security policy forbids inline styles.
  await expect(mail.getByText("Down", { exact: true }).first()).toHaveCSS("text-transform", "uppercase");
  await expect(mail.getByRole("link")).toHaveCount(0);
  await page.getByRole("button", { name: "Recovered" }).click();
  await expect(mail.getByRole("heading", { name: /Storefront/ })).not.toHaveText("Storefront is down");
  await page.getByRole("button", { name: "Plain text" }).click();
  await expect(page.getByRole("group", { name: "Preview" })).toContainText("Storefront");
});

test("a notifier is created in the form of a monitor; the picker shows kind and destination, and names do not collide", async ({
  page,
  member,
}) => {
  const webhook = { url: "https://hooks.slack.com/services/one" };
  await member.api.post("notifier/save", { name: "hooks.slack.com", type: "webhook", webhook });
  await page.goto("/monitor/new?type=api");
  await page.getByLabel("Name", { exact: true }).fill("backup");
  await page.getByRole("main").getByRole("button", { name: "New notifier" }).click();
  const dialog = page.getByRole("dialog");
  await chooseKind(dialog, "Webhook");
  await dialog.getByLabel("Webhook URL").fill("https://hooks.slack.com/services/two");
  await dialog.getByRole("button", { name: "Create notifier" }).click();
  await dialog.getByRole("button", { name: "I’ve saved it" }).click();
  await expect(dialog).toBeHidden();
  const picker = page.getByRole("group", { name: "Notify" });
  await expect(picker.getByRole("checkbox", { name: "hooks.slack.com (2)" })).toBeChecked();
  await expect(picker.getByText("Webhook · hooks.slack.com")).toHaveCount(2);
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("backup");
});

test("a notifier is removed from a monitor on its page, and added to all of them", async ({ page, member }) => {
  const { notifierid } = await member.api.post<Saved>("notifier/save", {
    name: "chat",
    type: "webhook",
    webhook: { url: "http://127.0.0.1:9/", template: "slack" },
  });
  await member.api.monitor({ name: "one", notifiers: notifierid });
  for (const name of ["two", "three"]) await member.api.monitor({ name });
  await page.goto(`/notifier/${notifierid}`);
  await page.getByRole("button", { name: "Stop notifying about one" }).click();
  await expect(page.getByText("Removed from one.")).toBeVisible();
  await expect(page.getByText("Not used by any monitor.")).toBeVisible();
  await page.getByRole("button", { name: "Add to all monitors" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Add to all monitors" }).click();
  await expect(page.getByText("Updated 3 monitors.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Stop notifying about/ })).toHaveCount(3);
});
