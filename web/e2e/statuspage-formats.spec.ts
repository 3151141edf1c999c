/** What status pages send, read by programs that others have written. */
import type { APIResponse } from "@playwright/test";
import { HtmlValidate } from "html-validate";
import { Statuspage } from "statuspage.io";
import { expect, test } from "./service";
import { createPage, languages, subscriptionPaths } from "./statuspage";

// The templates leave out what HTML allows to leave out, and write entities only where they must.
const validator = new HtmlValidate({
  extends: ["html-validate:standard"],
  rules: { "no-trailing-whitespace": "off", "long-title": "off" },
});

test("every document in every language is valid HTML", async ({ member, request, service }) => {
  const subscribe = { email: true, choose: true, webhook: true };
  const shown = await createPage(member.api, { subscribe });
  const { pageid, url, incidentid, componentid } = shown;
  const { confirm, manage, unsubscribe } = await subscriptionPaths(member.api, service, request, shown);
  const locked = await createPage(member.api, { access: "password", password: "open sesame" });
  const list = await member.api.get<{ incidents: { incidentid: string }[] }>(`incidents?pageid=${pageid}`);
  const incidents = list.incidents.map((incident) => `/incident/${incident.incidentid}`);
  expect(incidents).toContain(`/incident/${incidentid}`);
  for (const incident of incidents) {
    await expect.poll(async () => (await request.get(url + incident)).status()).toBe(200);
  }
  const month = `/history/${new Date().toISOString().slice(0, 7)}`;
  const parts = ["", "/history", month, `/component/${componentid}`, "/subscribe", "/embed", confirm, manage, unsubscribe, ...incidents];
  const found = parts.map((path) => url + path);
  const others = [locked.url, `${locked.url}/login`, `${service.url}/status/nothing-here`, `${url}/confirm/wrong`];
  const wrong: string[] = [];
  const check = async (name: string, answer: APIResponse, status?: number) => {
    const type = answer.headers()["content-type"] ?? "no type";
    if (!type.startsWith("text/html") || answer.status() !== (status ?? answer.status())) {
      wrong.push(`${name}: ${answer.status()}, ${type}`);
      return;
    }
    const { results } = await validator.validateString(await answer.text());
    for (const { line, ruleId, message } of results.flatMap((result) => result.messages)) {
      wrong.push(`${name} line ${line}: ${ruleId}: ${message}`);
    }
  };
  const headers = { accept: "text/html" };
  for (const language of languages) {
    for (const address of [...found, ...others]) {
      const answer = await request.get(`${address}?lang=${language}`, { headers });
      await check(`${address} (${language})`, answer, found.includes(address) ? 200 : undefined);
    }
  }
  // What the forms respond: what is wrong, and what has been done.
  const posts: [string, Record<string, string>, number][] = [
    ["/subscribe", { email: "nobody", incidents: "on" }, 422],
    ["/subscribe", { email: "ann@example.com" }, 422],
    ["/subscribe", { email: "ann@example.com", incidents: "on" }, 200],
    [manage, { language: "de" }, 422],
    [manage, { language: "de", incidents: "on" }, 200],
    [confirm, {}, 200],
    [confirm, {}, 404],
    [unsubscribe, {}, 200],
  ];
  for (const [path, form, status] of posts) {
    await check(`POST ${path}`, await request.post(url + path, { headers, form }), status);
  }
  const login = await request.post(`${locked.url}/login`, { headers, form: { password: "wrong" } });
  await check("POST /login", login, 401);
  expect([...new Set(wrong)].slice(0, 20)).toEqual([]);
});

test("a client of Statuspage reads a page", async ({ member }) => {
  const { url, incidentid, componentid } = await createPage(member.api);
  const client = new Statuspage("acme");
  client.setApiUrl(url);
  const { api } = client;
  await expect.poll(async () => (await api.scheduledMaintenances.getUpcoming()).scheduled_maintenances.length).toBe(1);

  const summary = await api.getSummary();
  expect(summary.page.name).toBe("Acme");
  expect(summary.page.url).toBe(url);
  expect(summary.status).toEqual((await api.getStatus()).status);
  expect(summary.status.indicator).toBe("minor");
  expect(summary.components).toEqual((await api.getComponents()).components);
  const shop = summary.components.find(({ id }) => id === componentid);
  expect(shop).toMatchObject({ name: "Shop", status: "degraded_performance" });
  expect(summary.incidents).toMatchObject([{ id: incidentid, name: "Slow checkout", status: "investigating" }]);
  expect(summary.scheduled_maintenances).toMatchObject([{ name: "Database upgrade", status: "scheduled" }]);

  const unresolved = await api.incidents.getUnresolved();
  expect(unresolved.incidents.map(({ name }) => name)).toEqual(["Slow checkout"]);
  expect(unresolved.incidents[0]?.incident_updates[0]?.body).toContain("looking");
  const all = (await api.incidents.getAll()).incidents.map(({ name }) => name);
  expect(all.toSorted()).toEqual(["Lost orders", "Slow checkout"]);
  expect((await api.scheduledMaintenances.getAll()).scheduled_maintenances).toHaveLength(1);
});
