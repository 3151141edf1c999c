/** What status pages send, read by programs that others have written. */
import { HtmlValidate } from "html-validate";
import { Statuspage } from "statuspage.io";
import { expect, test } from "./service";
import { createPage, languages } from "./statuspage";

// The templates leave out what HTML allows to leave out, and write entities only where they must.
const validator = new HtmlValidate({
  extends: ["html-validate:standard"],
  rules: { "no-trailing-whitespace": "off", "long-title": "off" },
});

test("every document in every language is valid HTML", async ({ member, request, service }) => {
  const subscribe = { email: true, choose: true, webhook: true };
  const { pageid, url, incidentid } = await createPage(member.api, { subscribe, embed: { origins: ["https://example.com"] } });
  const locked = await createPage(member.api, { access: "password", password: "open sesame" });
  const list = await member.api.get<{ incidents: { incidentid: string }[] }>(`incidents?pageid=${pageid}`);
  const incidents = list.incidents.map((incident) => `/incident/${incident.incidentid}`);
  expect(incidents).toContain(`/incident/${incidentid}`);
  const paths = ["", "/history", "/subscribe", "/embed", ...incidents].map((path) => url + path);
  const wrong: string[] = [];
  let documents = 0;
  for (const address of [...paths, locked.url, `${locked.url}/login`, `${service.url}/status/nothing-here`, `${url}/confirm/wrong`]) {
    for (const language of languages) {
      const answer = await request.get(`${address}?lang=${language}`, { headers: { accept: "text/html" } });
      if (!answer.headers()["content-type"]?.startsWith("text/html")) {
        wrong.push(`${address}: ${answer.headers()["content-type"] ?? "no type"}`);
        continue;
      }
      documents++;
      const { results } = await validator.validateString(await answer.text());
      for (const { line, ruleId, message } of results.flatMap((result) => result.messages)) {
        wrong.push(`${address} (${language}) line ${line}: ${ruleId}: ${message}`);
      }
    }
  }
  expect([...new Set(wrong)].slice(0, 20)).toEqual([]);
  expect(documents).toBeGreaterThanOrEqual(9 * languages.length);
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
