/** A team with a bit of everything. */
import { PASSWORD, type Member } from "./service";

/** A colleague, two schedules (one with a gap now), a policy of three steps and two rules; returns the paths of their pages. */
async function createOnCallData({ api, email }: Member, notifierid: string): Promise<string[]> {
  const colleague = `ann.${email}`;
  await api.post("team/save", { email: colleague, password1: PASSWORD, password2: PASSWORD, role: "responder" });
  const { members } = await api.get<{ members: { userid: string; email: string }[] }>("team/members");
  const idOf = (address: string) => members.find((one) => one.email === address)?.userid ?? "";
  const [me, ann] = [idOf(email), idOf(colleague)];
  const turns = { starts: "2026-01-05T09:00", time_zone: "Europe/Berlin" };
  const night = { days: ["mon", "tue", "wed", "thu", "fri"], from: "22:00", to: "06:00" };
  const layers = [
    { name: "Week", users: [me, ann], starts: turns.starts },
    { name: "Nights", users: [ann], starts: turns.starts, hours: [night] },
  ];
  const ops = { name: "Ops", time_zone: turns.time_zone, layers };
  const { schedule } = await api.post<{ schedule: { scheduleid: string } }>("schedule/save", ops);
  const { scheduleid } = schedule;
  const time = (offset: number) => new Date(Date.now() + offset).toISOString();
  await api.post(`schedule/${scheduleid}/override`, { userid: ann, starts: time(0), ends: time(30_000_000) });
  // Nobody is on call before its first turn.
  await api.post("schedule/save", { name: "Database", time_zone: "UTC", layers: [{ users: [ann], starts: "2199-01-01T09:00" }] });
  const steps = [
    { after: 0, notify: [{ scheduleid }] },
    { after: 600, notify: [{ scheduleid }, { notifierid }] },
    { after: 900, notify: [{ everybody: true }] },
  ];
  const production = { name: "Production", steps, repeat: 2, every: 1800, ack_timeout: 7200 };
  const { policy } = await api.post<{ policy: { policyid: string } }>("policy/save", production);
  const { policyid } = policy;
  const rules = [
    { name: "production", tags: "prod", severities: ["critical"], kinds: ["outage"], policyid, notifiers: notifierid },
    { name: "office hours", everything: true, hours: [{ ...night, from: "09:00", to: "17:00" }], severity: "info", stop: true },
  ];
  await api.post("routing/save", { rules });
  const quiet = { time_zone: "Europe/Berlin", hours: [night], except: "critical" };
  await api.post("notifier/save", { notifierid, quiet, min_severity: "warning" });
  await api.post("contacts/save", { rules: [{ notifierid: "account" }, { notifierid, after: 300, min_severity: "critical" }] });
  return [
    "/oncall",
    "/oncall/policies",
    "/oncall/routing",
    "/oncall/policy/new",
    `/oncall/policy/${policyid}/edit`,
    "/oncall/schedule/new",
    `/oncall/schedule/${scheduleid}/edit`,
  ];
}

/** Returns the paths of all pages. */
export async function createSampleData(member: Member): Promise<string[]> {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  await member.api.post("notifier/save", { ...hook, name: "old", isactive: false });
  const ntfy = { name: "phone", type: "ntfy", ntfy: { server: "http://127.0.0.1:9", topic: "alerts", token: "tk_sample" } };
  const phone = await member.api.post<{ notifierid: string }>("notifier/save", ntfy);
  const job = await member.api.monitor({ name: "nightly backup", tags: "prod, eu", notifiers: notifierid });
  await member.api.report(job.monitorid, "up", { message: "done", load_time: 120 });
  await member.api.report(job.monitorid, "down", { message: "disk full" });
  const { alerts } = await member.api.get<{ alerts: { alertid: string }[] }>(`monitor/${job.monitorid}/alerts`);
  const alertid = alerts[0]?.alertid ?? "";
  const calm = await member.api.monitor({ name: "calm", tags: "prod" });
  for (let beat = 0; beat < 3; beat++) await member.api.report(calm.monitorid, "up", { load_time: 20 + beat });
  await member.api.monitor({ name: "paused", isactive: false });
  await member.api.monitor({ name: "pending" });
  const hour = 3_600_000;
  const iso = (offset: number) => new Date(Date.now() + offset).toISOString();
  const running = { name: "deploy", monitors: calm.monitorid, starts: iso(-hour), ends: iso(hour) };
  const { maintenance } = await member.api.post<{ maintenance: { maintenanceid: string } }>("maintenance/save", running);
  const nightly = { name: "backups", tags: "prod", starts: "2026-01-01T02:30", time_zone: "America/New_York", duration: 5400 };
  await member.api.post("maintenance/save", { ...nightly, rrule: "FREQ=WEEKLY;BYDAY=SU,WE", except: "2026-12-27", checks: "pause" });
  await member.api.post("maintenance/save", {
    name: "later",
    everything: true,
    starts: iso(48 * hour),
    ends: iso(96 * hour),
    isactive: false,
  });
  await member.api.post("maintenance/save", { name: "before", monitors: job.monitorid, starts: iso(-3 * hour), ends: iso(-2 * hour) });
  const { serviceid } = await member.api.post<{ serviceid: string }>("service/save", { name: "robot", role: "editor", suspended: true });
  await member.api.post(`service/${serviceid}/key/save`, { name: "nightly", scope: "viewer", tags: "prod", expires: 90 });
  const pages = [
    ...(await createOnCallData(member, notifierid)),
    ...(await createStatuspageData(member, calm.monitorid)),
    "/",
    "/?group=tag",
    "/alerts",
    "/alerts?tab=over",
    `/alert/${alertid}`,
    "/maintenance",
    "/maintenance?view=month",
    "/maintenance/new",
    `/maintenance/${maintenance.maintenanceid}`,
    `/maintenance/${maintenance.maintenanceid}/edit`,
    "/notifiers",
    "/notifier/new",
    "/notifier/new?kind=own",
    "/notifier/new?kind=slack",
    `/notifier/${notifierid}`,
    "/team",
    "/team/audit",
    "/settings",
  ];
  pages.push(
    `/notifier/${notifierid}/edit`,
    `/notifier/${phone.notifierid}/edit`,
    "/billing",
    "/monitor/new",
    "/wallboard",
    "/nothing/here",
  );
  pages.push(`/monitor/${calm.monitorid}/notify`, "/admin");
  for (const section of ["teams", "users", "deliveries", "settings", "audit"]) pages.push(`/admin/${section}`);
  return [...pages, `/monitor/${job.monitorid}`, `/monitor/${calm.monitorid}`, `/monitor/${calm.monitorid}/edit`];
}

/** A status page with an open incident, planned maintenance and a draft. */
async function createStatuspageData(member: Member, monitorid: string): Promise<string[]> {
  const sections = [{ name: "Services", components: [{ name: "Shop", monitors: [monitorid] }, { name: "Phone support" }] }];
  const save = { name: "Acme status", slug: `sample-${monitorid.slice(-12)}`, published: true, sections };
  const { statuspage } = await member.api.post<{ statuspage: { pageid: string } }>("statuspage/save", save);
  const about = { pageids: [statuspage.pageid], update: { body: "We are **looking** into it." } };
  const { incident } = await member.api.post<{ incident: { incidentid: string } }>("incident/save", { ...about, title: "Slow checkout" });
  await member.api.post("incident/save", { ...about, title: "Unclear errors", state: "draft" });
  const from = Date.now() + 86_400_000;
  const [scheduled_for, scheduled_until] = [from, from + 3_600_000].map((at) => new Date(at).toISOString());
  const upgrade = { kind: "maintenance", title: "Database upgrade", scheduled_for, scheduled_until };
  await member.api.post("incident/save", {
    ...upgrade,
    pageids: [statuspage.pageid],
    update: { status: "scheduled", body: "Ten minutes." },
  });
  const template = { name: "Outage", title: "{{ components }} fails", body: "We are looking into it." };
  const { incidenttemplate } = await member.api.post<{ incidenttemplate: { templateid: string } }>("incidenttemplate/save", template);
  const rule = { name: "Outages", mode: "draft", templateid: incidenttemplate.templateid, show_cause: true };
  await member.api.post("statuspage/save", { pageid: statuspage.pageid, languages: ["de"], rules: [rule] });
  return [
    "/statuspages",
    "/statuspage/new",
    `/statuspage/${statuspage.pageid}`,
    "/incidents",
    "/incidenttemplates",
    "/incident/new",
    "/incident/new?kind=maintenance",
    `/incident/${incident.incidentid}`,
  ];
}
