/** The sections of the list. */
import type { Maintenance } from "../../shared/api/maintenances";

export type Section = "running" | "upcoming" | "off" | "past";

const sections: Record<Maintenance["status"], Section> = { running: "running", scheduled: "upcoming", inactive: "off", ended: "past" };
const order: readonly Section[] = ["running", "upcoming", "off", "past"];

/** What ends or begins first is on top; what is over, the newest. */
export function sectionsOf(windows: readonly Maintenance[]): [Section, Maintenance[]][] {
  return order
    .map((name): [Section, Maintenance[]] => [name, windows.filter(({ status }) => sections[status] === name).sort(comparers[name])])
    .filter(([, list]) => list.length > 0);
}

const timeOf = (text: string | null | undefined) => (text ? Date.parse(text) : Infinity);
const byName = (a: Maintenance, b: Maintenance) => a.name.localeCompare(b.name);

const comparers: Record<Section, (a: Maintenance, b: Maintenance) => number> = {
  running: (a, b) => difference(timeOf(a.current?.to), timeOf(b.current?.to)) || byName(a, b),
  upcoming: (a, b) => difference(timeOf(a.next[0]?.from), timeOf(b.next[0]?.from)) || byName(a, b),
  off: byName,
  past: (a, b) => difference(timeOf(b.ends ?? b.modified), timeOf(a.ends ?? a.modified)) || byName(a, b),
};

/** Also of two that have no end. */
function difference(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
