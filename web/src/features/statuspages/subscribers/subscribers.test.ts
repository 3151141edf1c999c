/** The subscribers of a page: what the calls send, and what is made of the answers. */
import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, test, vi } from "vitest";
import {
  checkDomain,
  deleteSubscriber,
  importSubscribers,
  incidentDeliveriesQuery,
  recipientsQuery,
  resendUpdate,
  saveSubscriber,
  subscribersFile,
  subscribersQuery,
  testSubscription,
  type Subscriber,
} from "../../../shared/api/subscribers";
import { en } from "../../../shared/i18n/en";
import { addressesOf, bodyOf, check, initial, recipientsOf, scopeOptions, valuesOf } from "./values";

vi.stubGlobal("sessionStorage", { getItem: () => "shop", setItem: () => {}, removeItem: () => {} });

let answers: object[];
const sent: { method: string; url: string; body: unknown }[] = [];
vi.stubGlobal("fetch", (url: string, { method, body }: { method: string; body?: string }) => {
  sent.push({ method, url, body: body === undefined ? undefined : JSON.parse(body) });
  return Promise.resolve(Response.json({ success: true, ...answers.shift() }));
});

const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });

beforeEach(() => {
  answers = [];
  sent.length = 0;
  client.clear();
});

const subscriber: Subscriber = {
  subscriberid: "s1",
  kind: "email",
  address: "ann@example.com",
  format: "standard",
  scope: { sections: ["a"], components: ["b"] },
  kinds: ["incidents"],
  language: "de",
  state: "active",
  source: "team",
  created: "2026-11-18T09:00:00Z",
  failures: 0,
};

test("a list is asked for by state, kind and text, and without what was not chosen", async () => {
  answers = [
    { subscribers: [subscriber], counts: {} },
    { subscribers: [], counts: { email: 412, webhook: 5, slack: 4, discord: 0, teams: 0 } },
  ];
  const filter = { state: "active" as const, kind: "email" as const, q: " ann " };
  expect((await client.query(subscribersQuery("p", filter, 50))).subscribers).toEqual([subscriber]);
  expect(recipientsOf((await client.query(recipientsQuery("p"))).counts)).toEqual({ email: 412, webhook: 9 });
  expect(sent.map(({ url }) => url)).toEqual([
    "/api/v1/statuspage/p/subscribers?state=active&kind=email&q=ann&limit=50",
    "/api/v1/statuspage/p/subscribers?state=active&limit=1",
  ]);
  expect(subscribersFile("p")).toBe("/api/v1/statuspage/p/subscribers?format=csv&team=shop");
});

test("a subscriber is added with consent or a confirmation, and changed without its address", async () => {
  answers = [{ subscriber }, { subscriber }];
  const values = { ...initial("en"), address: " ann@example.com ", consent: true };
  await saveSubscriber(client, "p", bodyOf(values));
  await saveSubscriber(client, "p", bodyOf({ ...valuesOf(subscriber), kinds: ["maintenance"] }, "s1"));
  const everything = { sections: [], components: [] };
  expect(sent.map(({ body }) => body)).toEqual([
    { kind: "email", address: "ann@example.com", consent: true, scope: everything, kinds: ["incidents", "maintenance"], language: "en" },
    { subscriberid: "s1", scope: { sections: ["a"], components: ["b"] }, kinds: ["maintenance"], language: "de" },
  ]);
  expect(check({ ...values, address: "ann" }, en).address).toBe(en.statuspages.subscribers.notEmail);
  expect(check({ ...values, kind: "webhook", address: "ftp://host" }, en).address).toBe(en.statuspages.subscribers.notUrl);
  expect(check({ ...values, kinds: [] }, en).kinds).toBe(en.statuspages.subscribers.noTopic);
});

test("addresses are found in lines and in CSV, each once", async () => {
  const text = 'email,name\r\nann@example.com,Ann\n"bob@example.com";"Bob"\nCid <cid@example.com>\n\nANN@example.com\nnobody';
  const found = addressesOf(text);
  expect(found.map((address) => address.toLowerCase())).toEqual(["ann@example.com", "bob@example.com", "cid@example.com"]);
  answers = [{ added: 2, known: 1, refused: 0 }];
  const imported = await importSubscribers(
    client,
    "p",
    found.map((address) => ({ kind: "email" as const, address })),
  );
  expect(imported).toMatchObject({ added: 2, known: 1 });
  expect(sent[0]?.body).toMatchObject({ consent: true, subscribers: [{ kind: "email" }, {}, {}] });
});

test("scopes name sections and components that are stored", () => {
  const sections = [{ sectionid: "a", name: "", components: [{ componentid: "b", name: "Shop" }, { name: "new" }] }];
  const options = scopeOptions(sections, (place) => `Section ${place}`);
  expect(options.map(({ value }) => value)).toEqual(["section:a", "component:b"]);
  expect(options[0]?.label).toBe("Section 1");
});

test("the other calls use the paths of the API", async () => {
  answers = [{}, {}, { updates: [{ updateid: "u", waiting: 0, delivered: 3, failed: 1, failures: [] }] }, {}, { verified: false }];
  await deleteSubscriber(client, "p", "s1");
  await testSubscription("p");
  expect(await client.query(incidentDeliveriesQuery("i"))).toMatchObject([{ updateid: "u", delivered: 3 }]);
  await resendUpdate(client, "i", "u");
  expect((await checkDomain(client, "p", "status.example.com")).verified).toBe(false);
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "DELETE /api/v1/statuspage/p/subscriber/s1/delete",
    "POST /api/v1/statuspage/p/subscriber/test",
    "GET /api/v1/incident/i/deliveries",
    "POST /api/v1/incident/i/update/u/resend",
    "POST /api/v1/statuspage/p/domain/check",
  ]);
});
