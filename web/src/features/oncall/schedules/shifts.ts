/**
 * Who is on call, as the service computes it (docs/alerting.md): for the rows of layers, which the service does not list,
 * and for a form that is not saved. A test in the browser compares both.
 */
import { days as weekdays } from "../../../shared/api/alerting-sets";
import type { Layer, Shift } from "../../../shared/api/schedules";
import { instantOf, localOf, parseLocal } from "../../../shared/lib/zone";

const DAY = 86_400_000;
const MINUTE = 60_000;

export interface Span {
  from: number;
  to: number;
}

/** A time in which the same user is on call, by a layer. */
export interface Turn extends Span {
  /** Null: nobody is. */
  userid: string | null;
  /** The place of the layer; null in a gap. */
  layer: number | null;
}

type Rotation = Pick<Layer, "users" | "starts" | "every" | "unit" | "hours">;

/** The turns of a layer that overlap a range, within its hours, in order. */
export function turnsOf(layer: Rotation, zone: string, range: Span): (Span & { userid: string })[] {
  const starts = parseLocal(layer.starts);
  const length = layer.every * (layer.unit === "week" ? 7 : 1) * DAY;
  if (layer.users.length === 0 || Number.isNaN(starts) || !(length > 0)) return [];
  const handover = (turn: number) => instantOf(starts + turn * length, zone);
  const turns: (Span & { userid: string })[] = [];
  // A clock change may move a handover by some hours.
  const first = Math.max(0, Math.floor((localOf(range.from, zone) - starts) / length) - 1);
  for (let turn = first; handover(turn) < range.to; turn++) {
    const userid = layer.users[turn % layer.users.length];
    if (userid !== undefined) turns.push({ from: handover(turn), to: handover(turn + 1), userid });
  }
  const within = layer.hours.length === 0 ? [range] : hoursIn(layer.hours, zone, range);
  return turns.flatMap((turn) =>
    within
      .map((hours) => ({ ...turn, from: Math.max(turn.from, hours.from, range.from), to: Math.min(turn.to, hours.to, range.to) }))
      .filter(({ from, to }) => from < to),
  );
}

/** Minutes of a time of the day. */
function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

/** The spans of daily hours that overlap a range. Those that cross midnight belong to the day they begin on. */
function hoursIn(hours: Rotation["hours"], zone: string, range: Span): Span[] {
  const dayOf = (at: number) => Math.floor(localOf(at, zone) / DAY) * DAY;
  const spans: Span[] = [];
  for (let day = dayOf(range.from) - 2 * DAY; day <= dayOf(range.to) + DAY; day += DAY) {
    const weekday = weekdays[(new Date(day).getUTCDay() + 6) % 7];
    for (const { days, from, to } of hours) {
      if (days.length > 0 && !days.some((one) => one === weekday)) continue;
      const [begin, end] = [minutesOf(from), minutesOf(to)];
      const until = end <= begin ? end + 1440 : end;
      spans.push({ from: instantOf(day + begin * MINUTE, zone), to: instantOf(day + until * MINUTE, zone) });
    }
  }
  return merged(spans.filter((span) => span.from < span.to && span.to > range.from && span.from < range.to));
}

function merged(spans: Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else found.push({ ...span });
  }
  return found;
}

/** Who is on call in a range by the layers alone, gaps included: later layers take precedence. */
export function shiftsOf(layers: readonly Rotation[], zone: string, range: Span): Turn[] {
  const rows = layers.map((layer) => turnsOf(layer, zone, range));
  const changes = new Set([range.from, ...rows.flat().flatMap(({ from, to }) => [from, to])]);
  const times = [...changes].filter((at) => at >= range.from && at < range.to).sort((a, b) => a - b);
  const shifts: Turn[] = [];
  times.forEach((from, place) => {
    const to = times[place + 1] ?? range.to;
    const layer = rows.findLastIndex((turns) => turns.some((turn) => turn.from <= from && from < turn.to));
    const userid = rows[layer]?.find((turn) => turn.from <= from && from < turn.to)?.userid ?? null;
    const last = shifts.at(-1);
    const by = layer < 0 ? null : layer;
    if (last && last.userid === userid && last.layer === by) last.to = to;
    else shifts.push({ from, to, userid, layer: by });
  });
  return shifts;
}

/** A time in which the same user is on call, by one or several layers in turn, or by an override. */
export interface Stint extends Span {
  /** Null: nobody is. */
  userid: string | null;
  email: string | null;
  layers: number[];
  override: string | null;
}

/** The shifts of the service; those of one user that follow each other are one, except for overrides, which can be removed. */
export function stintsOf(shifts: readonly Shift[]): Stint[] {
  const stints: Stint[] = [];
  for (const { from, to, userid, email, layer, override } of shifts) {
    const span = { from: Date.parse(from), to: Date.parse(to) };
    const last = stints.at(-1);
    if (last && last.userid === (userid ?? null) && !last.override && !override) {
      last.to = span.to;
      if (typeof layer === "number" && !last.layers.includes(layer)) last.layers.push(layer);
    } else {
      const layers = typeof layer === "number" ? [layer] : [];
      stints.push({ ...span, userid: userid ?? null, email: email ?? null, layers, override: override ?? null });
    }
  }
  return stints;
}
