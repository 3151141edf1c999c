/** What differs between two versions of a monitor, so that a save sends only that and never undoes someone else's change. */
import type { SaveMonitor } from "../data";
import type { Values } from "./values";

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The fields of `after` that differ, one level into `http`, `dns` and `group`. A new type needs all of its settings. */
export function changesOf(before: SaveMonitor, after: SaveMonitor): SaveMonitor {
  if (before.type !== after.type) return after;
  const old = before as Record<string, unknown>;
  return Object.fromEntries(
    differing(before, after).map(([key, value]) => [
      key,
      isObject(value) && isObject(old[key]) ? Object.fromEntries(differing(old[key], value)) : value,
    ]),
  );
}

function differing(before: object, after: object): [string, unknown][] {
  const old = before as Record<string, unknown>;
  return Object.entries(after).filter(([key, value]) => !same(old[key], value));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field that someone else changed, and the value in the form. */
export interface Conflict {
  field: keyof Values;
  theirs: unknown;
  mine: unknown;
  /** Whether it was changed here too; the form keeps this value. */
  both: boolean;
}

export function conflictsOf(base: Values, theirs: Values, mine: Values): Conflict[] {
  return (Object.keys(theirs) as (keyof Values)[])
    .filter((field) => !same(base[field], theirs[field]) && !same(mine[field], theirs[field]))
    .map((field) => ({ field, theirs: theirs[field], mine: mine[field], both: !same(base[field], mine[field]) }));
}
