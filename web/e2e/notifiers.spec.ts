import { startHook, startMailServer } from "./receiver";
import { choose, expect, test } from "./service";

const row = "li[data-row]";

test("a webhook is created, shows its secret once, is tested, and its response is shown", async ({ page, member: _member }) => {
  const hook = await startHook();
  await page.goto("/notifiers");
  await expect(page.getByText("No one is notified yet")).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "New notifier" }).click();
  await choose(page, "Webhook");
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
  await page.goto("/notifier/new");
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
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Test failed" })).toContainText(/refused/i);
});

test("invalid fields show their errors, and the values remain", async ({ page, member: _member }) => {
  await page.goto("/notifier/new");
  await page.getByLabel("To", { exact: true }).fill("not an address");
  await page.getByRole("button", { name: "Create notifier" }).click();
  for (const label of ["To", "Host", "From"]) {
    await expect(page.getByLabel(label, { exact: true }), label).toHaveAttribute("aria-invalid", "true");
  }
  await expect(page.getByLabel("To", { exact: true })).toBeFocused();
  await choose(page, "Custom webhook");
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
  await expect(alert.first()).toContainText("on call: retrying");
  await expect(alert.first()).toContainText("next attempt");
  await expect(alert.first()).toContainText("no room");
  await alert.getByRole("button", { name: "Retry the message about backup now" }).click();
  await expect.poll(() => hook.bodies.length).toBeGreaterThan(1);

  await page.goto(`/notifier/${notifierid}`);
  const sent = page.getByRole("listitem").filter({ hasText: "is down" });
  await expect(sent).toContainText("Retrying");
  hook.status = 200;
  await sent.getByRole("button", { name: "Retry the message about backup now" }).click();
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
  await expect(page.getByText("on call: delivered")).toBeVisible();

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
    for (const name of ["one", "two"]) await page.locator(row).filter({ hasText: name }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Notifiers", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: way, exact: true }).click();
    await dialog.getByRole("checkbox", { name: "chat" }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Updated 2 monitors.")).toBeVisible();
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
  await choose(page, "Slack");
  await expect(preview).toContainText("Storefront");
  await choose(page, "Email");
  await page.getByLabel("Subject").fill("{{ name }} says {{ status }}");
  await expect(page.getByText("Storefront says up")).toBeVisible();
});
