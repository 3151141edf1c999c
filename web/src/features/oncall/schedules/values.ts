/** The values of a schedule's form, with the names that the service uses in its errors. */
import type { Layer, SaveSchedule, Schedule } from "../../../shared/api/schedules";
import { hoursBody, incompleteHours } from "../../../shared/lib/hours";
import { localText } from "../../../shared/lib/zone";
import type { Texts } from "../../../shared/i18n";

export interface LayerValues extends Omit<Layer, "every"> {
  /** Identifies it in the form while its place changes. */
  key: string;
  every: number | "";
}

export interface Values {
  name: string;
  time_zone: string;
  layers: LayerValues[];
}

const DAY = 86_400_000;
let made = 0;

/** A layer with weekly turns, from the Monday of this week on. */
export function newLayer(now: number, users: string[] = []): LayerValues {
  const today = Math.floor(now / DAY) * DAY;
  const monday = today - ((new Date(today).getUTCDay() + 6) % 7) * DAY;
  return { key: String(made++), name: "", users, starts: localText(monday + (9 / 24) * DAY), every: 1, unit: "week", hours: [] };
}

export function initial(now: number, time_zone: string): Values {
  return { name: "", time_zone, layers: [newLayer(now)] };
}

export function valuesOf({ name, time_zone, layers }: Schedule): Values {
  return { name, time_zone, layers: layers.map((layer) => ({ ...layer, starts: layer.starts.slice(0, 16), key: String(made++) })) };
}

/** The layers as the service has them. */
export function layersOf({ layers }: Values): Layer[] {
  return layers.map(({ name, users, starts, every, unit, hours }) => ({
    name: name.trim(),
    users,
    starts,
    every: every === "" ? 1 : every,
    unit,
    hours: hoursBody(hours),
  }));
}

/** What is wrong before the service is asked. */
export function check({ name, layers }: Values, t: Texts): Record<string, string> {
  const found: Record<string, string> = {};
  const { required } = t.maintenance.form;
  if (name.trim() === "") found.name = required;
  layers.forEach(({ users, starts, hours }, place) => {
    if (users.length === 0) found[`layers.${place}.users`] = t.oncall.choosePeople;
    if (starts === "") found[`layers.${place}.starts`] = required;
    Object.assign(found, incompleteHours(hours, `layers.${place}.hours`, required));
  });
  return found;
}

export function bodyOf(values: Values, scheduleid?: string): SaveSchedule {
  return {
    ...(scheduleid !== undefined && { scheduleid }),
    name: values.name.trim(),
    time_zone: values.time_zone,
    layers: layersOf(values),
  };
}
