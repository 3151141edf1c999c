/** A team with a bit of everything. */
import type { Member } from "./service";

/** Returns the paths of all pages. */
export async function createSampleData(member: Member): Promise<string[]> {
  const hook = { name: "chat", type: "webhook", webhook: { url: "http://127.0.0.1:9/", template: "slack" } };
  const { notifierid } = await member.api.post<{ notifierid: string }>("notifier/save", hook);
  await member.api.post("notifier/save", { ...hook, name: "old", isactive: false });
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
    `/notifier/${notifierid}`,
    "/team",
    "/team/audit",
    "/settings",
  ];
  pages.push(`/notifier/${notifierid}/edit`, "/billing", "/monitor/new", "/wallboard", "/nothing/here");
  pages.push(`/monitor/${calm.monitorid}/notify`, "/admin");
  for (const section of ["teams", "users", "deliveries", "settings", "audit"]) pages.push(`/admin/${section}`);
  return [...pages, `/monitor/${job.monitorid}`, `/monitor/${calm.monitorid}`, `/monitor/${calm.monitorid}/edit`];
}
