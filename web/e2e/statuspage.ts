/** A status page with something of everything. */
import type { APIRequestContext } from "@playwright/test";
import { expect, type Api, type Service } from "./service";

export const languages = ["en", "de", "fr", "es", "nl", "pt", "ja", "ar"] as const;

export interface Shown {
  pageid: string;
  url: string;
  incidentid: string;
  componentid: string;
}

/** A page with a closed section, an open incident, a past one with a postmortem, and planned maintenance. */
export async function createPage(api: Api, extra: object = {}): Promise<Shown> {
  const shop = await api.monitor({ name: "shop.internal" });
  await api.report(shop.monitorid, "up", { load_time: 30 });
  const sections = [
    { name: "Services", components: [{ name: "Shop", monitors: [shop.monitorid] }, { name: "Phone support" }] },
    { name: "Offices", collapsed: "always", components: [{ name: "Berlin" }] },
  ];
  const display = { response_times: true, outages: true };
  const body = {
    name: "Acme",
    published: true,
    languages: languages.slice(1),
    description: "All about **Acme**.",
    display,
    sections,
    ...extra,
  };
  type Saved = { statuspage: { pageid: string; url: string; sections: { components: { componentid: string }[] }[] } };
  const { statuspage } = await api.post<Saved>("statuspage/save", body);
  const componentid = statuspage.sections[0]?.components[0]?.componentid ?? "";
  const about = { components: [{ componentid, status: "degraded_performance" }] };
  const open = {
    ...about,
    title: "Slow checkout",
    update: { status: "investigating", body: "We are **looking** into it.\n\n- one\n- two" },
  };
  const { incident } = await api.post<{ incident: { incidentid: string } }>("incident/save", open);
  const day = 86_400_000;
  const iso = (offset: number) => new Date(Date.now() + offset).toISOString();
  const past = { pageids: [statuspage.pageid], title: "Lost orders", started: iso(-2 * day), resolved: iso(-2 * day + 3_600_000) };
  const over = await api.post<{ incident: { incidentid: string } }>("incident/save", {
    ...past,
    update: { status: "resolved", body: "All is well again." },
  });
  await api.post(`incident/${over.incident.incidentid}/postmortem/save`, { body: "# Cause\nA full disk.", published: true });
  await api.post("incident/save", {
    kind: "maintenance",
    title: "Database upgrade",
    pageids: [statuspage.pageid],
    scheduled_for: iso(day),
    scheduled_until: iso(day + 3_600_000),
    update: { status: "scheduled", body: "Ten minutes." },
  });
  return { pageid: statuspage.pageid, url: statuspage.url, incidentid: incident.incidentid, componentid };
}

/** The path on the page of the newest link of a kind in the emails to an address, once one has arrived. */
export async function emailedPath(service: Service, email: string, kind: "confirm" | "manage"): Promise<string> {
  const newest = () => {
    const mails = service.mails().filter((mail) => mail.includes(email));
    const links = mails.map((mail) => new RegExp(`/${kind}/[\\w-]+`).exec(mail.replaceAll("=\r\n", ""))?.[0]);
    return links.findLast((link) => link !== undefined) ?? "";
  };
  await expect.poll(newest, { timeout: 30_000 }).not.toBe("");
  return newest();
}

/** The links of a subscription that waits for its confirmation, and of one that receives updates. */
export async function subscriptionPaths(api: Api, service: Service, request: APIRequestContext, shown: Shown) {
  const address = (name: string) => `${name}-${shown.pageid.slice(-12)}@example.com`;
  const [pending, active] = [address("pending"), address("active")];
  await api.post(`statuspage/${shown.pageid}/subscribers/import`, { consent: true, subscribers: [{ address: active }] });
  await api.post(`incident/${shown.incidentid}/update/save`, { status: "identified", body: "A slow disk.", notify: true });
  await expect(async () => {
    const answer = await request.post(`${shown.url}/subscribe`, { form: { email: pending, incidents: "on" } });
    expect(answer.status()).toBe(200);
  }).toPass();
  const confirm = await emailedPath(service, pending, "confirm");
  const manage = await emailedPath(service, active, "manage");
  return { confirm, manage, unsubscribe: manage.replace("/manage/", "/unsubscribe/") };
}
