/** Which monitors are shown and in which order: a pure function of the list and the URL. */
import { find } from "../../../shared/api/closed-sets";
import { responseTimeOf, states, stateOf, types, type MonitorRow, type State, type Type } from "../data";

export const sorts = ["status", "name", "load_time", "check", "changed"] as const;
export type Sort = (typeof sorts)[number];

export interface View {
  q: string;
  state: State | null;
  type: Type | null;
  tag: string | null;
  sort: Sort;
  /** Whether the order is the opposite of the usual one. */
  reversed: boolean;
  /** Whether monitors are grouped by tag. */
  grouped: boolean;
}

/** The view is part of the URL, so it can be linked to and the back button works. */
export function viewOf(search: URLSearchParams): View {
  return {
    q: search.get("q") ?? "",
    state: find(states, search.get("status")) ?? null,
    type: find(types, search.get("type")) ?? null,
    tag: search.get("tag"),
    sort: find(sorts, search.get("sort")) ?? "status",
    reversed: search.get("order") === "reversed",
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
  if (view.reversed) search.set("order", "reversed");
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

/** What monitors are sorted by, smallest first; null is last in either direction. */
const sortKeys: Record<Sort, (monitor: MonitorRow, rank: number) => number | null> = {
  // Monitors that need attention come first.
  status: (monitor) => states.indexOf(stateOf(monitor)),
  name: (_, rank) => rank,
  load_time: (monitor) => slowestFirst(responseTimeOf(monitor)),
  check: ({ last_check }) => newestFirst(last_check),
  changed: ({ status_since }) => newestFirst(status_since),
};

function slowestFirst(ms: number | null): number | null {
  return ms === null ? null : -ms;
}

function newestFirst(at: string | null | undefined): number | null {
  return at ? -Date.parse(at) : null;
}

/** The direction of the usual order, in terms of the values in the column. */
const usual: Record<Sort, Direction> = {
  status: "ascending",
  name: "ascending",
  load_time: "descending",
  check: "descending",
  changed: "descending",
};

export type Direction = "ascending" | "descending";

/** The direction in which a column is sorted, or undefined if the list is sorted by another one. */
export function directionOf(view: View, sort: Sort): Direction | undefined {
  if (view.sort !== sort) return undefined;
  return view.reversed === (usual[sort] === "ascending") ? "descending" : "ascending";
}

/** The order after a click on a column header: by that column, then reversed. */
export function sortedBy(view: Pick<View, "sort" | "reversed">, sort: Sort): Pick<View, "sort" | "reversed"> {
  return { sort, reversed: view.sort === sort && !view.reversed };
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
  const sortKey = sortKeys[view.sort];
  const sign = view.reversed ? -1 : 1;
  return list
    .filter((monitor) => matches(monitor, view, words))
    .map((monitor) => ({ monitor, rank: ranks.get(monitor), key: sortKey(monitor, ranks.get(monitor)) }))
    .sort((a, b) => nullsLast(a.key, b.key, sign) || a.rank - b.rank)
    .map(({ monitor }) => monitor);
}

function nullsLast(a: number | null, b: number | null, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (a - b);
}

export function countStates(list: readonly MonitorRow[]): Record<State, number> {
  const counts = { down: 0, degraded: 0, blocked: 0, pending: 0, up: 0, paused: 0 };
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

/** The set with the items added or removed. */
export function withAll(set: ReadonlySet<string>, items: readonly string[], add: boolean): ReadonlySet<string> {
  const next = new Set(set);
  for (const item of items) {
    if (add) next.add(item);
    else next.delete(item);
  }
  return next;
}

/** The monitors from one line to another, in either direction; only the second if the first is no longer listed. */
export function between(lines: readonly Line[], from: string | null, to: string): string[] {
  const end = lines.findIndex((line) => line.key === to);
  const start = lines.findIndex((line) => line.key === from);
  const range = lines.slice(Math.min(start < 0 ? end : start, end), Math.max(start, end) + 1);
  return range.flatMap((line) => ("monitor" in line ? [line.monitor.monitorid] : []));
}

export function keyOf(tag: string | null): string {
  return tag === null ? "untagged" : `#${tag}`;
}
