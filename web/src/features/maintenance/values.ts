/** The values of a window's form, with the field names that the service uses in its errors, and the requests they become. */
import type { Maintenance, SaveMaintenance } from "../../shared/api/maintenances";
import { formatDuration, parseDuration } from "../../shared/lib/duration";
import { knownZone, instantOf, localOf, localText, parseLocal } from "../../shared/lib/zone";
import { isSelected, selectorBody, type Selector } from "../../shared/lib/selector";
import type { Texts } from "../../shared/i18n";
import { fromCron, fromRrule, initialRule, rruleOf, type RuleValues } from "./rule";

export interface Values extends RuleValues, Selector {
  name: string;
  description: string;
  isactive: boolean;
  /** Local, in the zone of the window. */
  starts: string;
  /** Whether it lasts until somebody ends it; only without a rule. */
  open: boolean;
  ends: string;
  duration: string;
  time_zone: string;
  except: string[];
  checks: Maintenance["checks"];
  counts: Maintenance["counts"];
  alerts: Maintenance["alerts"];
  /** Whether it covers monitors that depend on a covered one. */
  dependents: boolean;
  grace: string;
  "announce.notifiers": string[];
  /** Durations as text. */
  "announce.before": string[];
  "announce.start": boolean;
  "announce.end": boolean;
}

const HOUR = 3_600_000;
/** How often an occurrence can be announced before it starts. */
export const MAX_ANNOUNCEMENTS = 3;

/** A new window, in an hour's time, for an hour. */
export function initial(now: number, zone: string): Values {
  const starts = Math.ceil(localOf(now, zone) / HOUR) * HOUR + HOUR;
  const local = localText(starts);
  return {
    ...initialRule(local),
    name: "",
    description: "",
    isactive: true,
    everything: false,
    monitors: [],
    groups: [],
    tags: [],
    all_tags: [],
    starts: local,
    open: false,
    ends: localText(starts + HOUR),
    duration: formatDuration(3600),
    time_zone: zone,
    except: [],
    checks: "run",
    counts: "excluded",
    alerts: "suppress",
    dependents: true,
    grace: "",
    "announce.notifiers": [],
    "announce.before": [],
    "announce.start": true,
    "announce.end": true,
  };
}

export function valuesOf(window: Maintenance): Values {
  const zone = knownZone(window.time_zone);
  const local = parseLocal(window.starts);
  const at = Number.isNaN(local) ? localOf(Date.parse(window.starts), zone) : local;
  const starts = localText(at);
  const length = window.duration ?? null;
  return {
    ...ruleOf(window, starts),
    name: window.name,
    description: window.description,
    isactive: window.isactive,
    everything: window.everything,
    monitors: window.monitors,
    groups: window.groups,
    tags: window.tags,
    all_tags: window.all_tags,
    starts,
    open: length === null,
    ends: localText(localOf(instantOf(at, zone) + (length ?? 3600) * 1000, zone)),
    duration: formatDuration(length ?? 3600),
    time_zone: window.time_zone,
    except: window.except,
    checks: window.checks,
    counts: window.counts,
    alerts: window.alerts,
    dependents: window.dependents,
    grace: window.grace === 0 ? "" : formatDuration(window.grace),
    "announce.notifiers": window.announce.notifiers,
    "announce.before": window.announce.before.map(formatDuration),
    "announce.start": window.announce.start,
    "announce.end": window.announce.end,
  };
}

function ruleOf({ rrule, cron }: Maintenance, starts: string): RuleValues {
  if (rrule) return fromRrule(rrule, starts);
  // The fields of the other forms begin with what the expression means.
  if (cron) return { ...initialRule(starts), ...fromCron(cron)?.rule, repeat: "cron", cron };
  return initialRule(starts);
}

/** What is wrong before the service is asked. */
export function check(values: Values, t: Texts): Record<string, string> {
  const found: Record<string, string> = {};
  const { repeat } = values;
  const { form } = t.maintenance;
  if (values.name.trim() === "") found.name = form.required;
  if (!isSelected(values)) found.monitors = form.chooseMonitors;
  if (values.starts === "") found.starts = form.required;
  if (repeat === "once" && !values.open && values.ends === "") found.ends = form.required;
  if (repeat !== "once" && parseDuration(values.duration) === null) found.duration = t.form.durationInvalid;
  if (values.grace.trim() !== "" && parseDuration(values.grace) === null) found.grace = t.form.durationInvalid;
  const before = values["announce.before"].map(parseDuration);
  if (before.length > MAX_ANNOUNCEMENTS || before.some((seconds) => seconds === null || seconds < 60))
    found["announce.before"] = form.beforeInvalid;
  if (repeat === "week" && values.days.length === 0) found.rrule = form.oneDay;
  if (repeat === "month" && values.monthly === "day" && values.dates.length === 0) found.rrule = form.oneDay;
  return found;
}

/** Whether it ends before now and happens once: then it only corrects the statistics. */
export function isPast(values: Values, now: number): boolean {
  if (values.repeat !== "once" || values.open) return false;
  return instantOf(parseLocal(values.ends), knownZone(values.time_zone)) <= now;
}

/** When it happens. These fields depend on each other, so they are sent together. */
function scheduleOf(values: Values) {
  const { repeat, starts, time_zone } = values;
  if (repeat === "once") return { starts, time_zone, ends: values.open ? "" : values.ends, rrule: "", cron: "", except: [] };
  const duration = parseDuration(values.duration) ?? 0;
  const rule = repeat === "cron" ? { cron: values.cron.trim() } : { rrule: rruleOf(values) };
  return { starts, time_zone, duration, ...rule, except: values.except };
}

function othersOf(values: Values): SaveMaintenance {
  return {
    name: values.name.trim(),
    description: values.description,
    isactive: values.isactive,
    checks: values.checks,
    counts: values.counts,
    alerts: values.alerts,
    dependents: values.dependents,
    grace: values.grace.trim() === "" ? 0 : (parseDuration(values.grace) ?? 0),
    announce: {
      notifiers: values["announce.notifiers"],
      before: values["announce.before"].map((text) => parseDuration(text) ?? 0),
      start: values["announce.start"],
      end: values["announce.end"],
    },
  };
}

/** The whole window. */
export function bodyOf(values: Values): SaveMaintenance {
  return { ...othersOf(values), ...selectorBody(values), ...scheduleOf(values) };
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** What differs from the stored window, so that a save never undoes someone else's change of another field. */
export function changesOf(window: Maintenance, values: Values): SaveMaintenance {
  const before = valuesOf(window);
  const old = othersOf(before) as Record<string, unknown>;
  const others = Object.entries(othersOf(values)).filter(([field, value]) => !same(old[field], value));
  const part = <T extends object>(one: T, other: T) => (same(one, other) ? {} : other);
  return {
    maintenanceid: window.maintenanceid,
    ...Object.fromEntries(others),
    ...part(selectorBody(before), selectorBody(values)),
    ...part(scheduleOf(before), scheduleOf(values)),
  };
}
