/** Which monitors are shown and in which order: a pure function of the list and the URL. */
import { states, stateOf, types, type MonitorRow, type State, type Type } from "../data";

export const sorts = ["status", "name", "load_time", "changed"] as const;
export type Sort = (typeof sorts)[number];

export interface View {
  q: string;
  state: State | null;
  type: Type | null;
  tag: string | null;
  sort: Sort;
  /** Whether monitors are grouped by tag. */
  grouped: boolean;
}

function known<T extends string>(words: readonly T[], word: string | null): T | null {
  return words.find((other) => other === word) ?? null;
}

/** The view is part of the URL, so it can be linked to and the back button works. */
export function viewOf(search: URLSearchParams): View {
  return {
    q: search.get("q") ?? "",
    state: known(states, search.get("status")),
    type: known(types, search.get("type")),
    tag: search.get("tag"),
    sort: known(sorts, search.get("sort")) ?? "status",
    grouped: search.get("group") === "tag",
  };
}

export function searchOf(view: View): URLSearchParams {
  const search = new URLSearchParams();
  if (view.q !== "") search.set("q", view.q);
  if (view.state) search.set("status", view.state);
  if (view.type) search.set("type", view.type);
  if (view.tag) search.set("tag", view.tag);
  if (view.sort !== "status") search.set("sort", view.sort);
  if (view.grouped) search.set("group", "tag");
  return search;
}

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * The position of each monitor in the order by name. Locale-aware comparison is
 * slow, and a long list is sorted several times a second while no name changes,
 * so the order is computed once and reused.
 */
export class Ranks {
  private readonly named = new Map<string, string>();
  private readonly ranks = new Map<string, number>();

  private constructor(list: readonly MonitorRow[]) {
    const sorted = list.toSorted((a, b) => names.compare(a.name, b.name));
    sorted.forEach(({ monitorid, name }, rank) => {
      this.named.set(monitorid, name);
      this.ranks.set(monitorid, rank);
    });
  }

  /** Returns the previous ranks if they are still valid. */
  static of(list: readonly MonitorRow[], previous?: Ranks | null): Ranks {
    return previous?.isValidFor(list) ? previous : new Ranks(list);
  }

  private isValidFor(list: readonly MonitorRow[]): boolean {
    return list.length === this.named.size && list.every(({ monitorid, name }) => this.named.get(monitorid) === name);
  }

  get(monitor: MonitorRow): number {
    return this.ranks.get(monitor.monitorid) ?? 0;
  }
}

const orders: Record<Sort, (a: MonitorRow, b: MonitorRow) => number> = {
  // Monitors that need attention come first.
  status: (a, b) => states.indexOf(stateOf(a)) - states.indexOf(stateOf(b)),
  name: () => 0,
  load_time: (a, b) => (b.load_time ?? -1) - (a.load_time ?? -1),
  changed: (a, b) => timestamp(b.status_since) - timestamp(a.status_since),
};

function timestamp(at: string | null | undefined): number {
  return at ? Date.parse(at) : 0;
}

export function matches(monitor: MonitorRow, view: View, words: readonly string[]): boolean {
  if (view.state && stateOf(monitor) !== view.state) return false;
  if (view.type && monitor.type !== view.type) return false;
  if (view.tag && !monitor.tags.includes(view.tag)) return false;
  if (words.length === 0) return true;
  const haystack = `${monitor.name}\n${monitor.target}\n${monitor.tags.join("\n")}`.toLowerCase();
  return words.every((word) => haystack.includes(word));
}

export function shown(list: readonly MonitorRow[], view: View, ranks = Ranks.of(list)): MonitorRow[] {
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const order = orders[view.sort];
  return list.filter((monitor) => matches(monitor, view, words)).sort((a, b) => order(a, b) || ranks.get(a) - ranks.get(b));
}

export function countStates(list: readonly MonitorRow[]): Record<State, number> {
  const counts = { down: 0, pending: 0, up: 0, paused: 0 };
  for (const monitor of list) counts[stateOf(monitor)]++;
  return counts;
}

export function tagsOf(list: readonly MonitorRow[]): string[] {
  return [...new Set(list.flatMap((monitor) => monitor.tags))].sort(names.compare);
}

export interface Group {
  /** Null for untagged monitors. */
  tag: string | null;
  counts: Record<State, number>;
  total: number;
  open: boolean;
}

/** A line of the list: a monitor or a group header. */
export type Line = { key: string; monitor: MonitorRow } | { key: string; group: Group };

export function linesOf(rows: readonly MonitorRow[]): Line[] {
  return rows.map((monitor) => ({ key: monitor.monitorid, monitor }));
}

/** Lists every monitor under each of its tags, in the given order; collapsed groups show only their header. */
export function groupsOf(rows: readonly MonitorRow[], collapsed: ReadonlySet<string>): Line[] {
  const members = new Map<string | null, MonitorRow[]>(tagsOf(rows).map((tag) => [tag, []]));
  members.set(null, []);
  for (const row of rows) {
    for (const tag of row.tags.length === 0 ? [null] : row.tags) members.get(tag)?.push(row);
  }
  const lines: Line[] = [];
  for (const [tag, some] of members) {
    if (some.length === 0) continue;
    const key = keyOf(tag);
    const open = !collapsed.has(key);
    lines.push({ key, group: { tag, counts: countStates(some), total: some.length, open } });
    if (open) for (const monitor of some) lines.push({ key: `${key} ${monitor.monitorid}`, monitor });
  }
  return lines;
}

/** The set with the item added, or removed if it was in it. */
export function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

export function keyOf(tag: string | null): string {
  return tag === null ? "untagged" : `#${tag}`;
}
