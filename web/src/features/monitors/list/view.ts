/** Which monitors are shown, in which order: a pure function of the list and the address. */
import { states, stateOf, targetOf, types, type Monitor, type State, type Type } from "../data";

export const sorts = ["status", "name", "load_time", "changed"] as const;
export type Sort = (typeof sorts)[number];

export interface View {
  q: string;
  state: State | null;
  type: Type | null;
  tag: string | null;
  sort: Sort;
}

function known<T extends string>(words: readonly T[], word: string | null): T | null {
  return words.find((other) => other === word) ?? null;
}

/** The view stands in the address, so that it can be linked and gone back to. */
export function viewOf(search: URLSearchParams): View {
  return {
    q: search.get("q") ?? "",
    state: known(states, search.get("status")),
    type: known(types, search.get("type")),
    tag: search.get("tag"),
    sort: known(sorts, search.get("sort")) ?? "status",
  };
}

export function searchOf(view: View): URLSearchParams {
  const search = new URLSearchParams();
  if (view.q !== "") search.set("q", view.q);
  if (view.state) search.set("status", view.state);
  if (view.type) search.set("type", view.type);
  if (view.tag) search.set("tag", view.tag);
  if (view.sort !== "status") search.set("sort", view.sort);
  return search;
}

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * Where each monitor stands by name. Comparing names as people do is slow, and
 * with many monitors the list is put in order several times a second while no
 * name changes; so this is worked out once and kept.
 */
export class Ranks {
  private readonly named = new Map<string, string>();
  private readonly ranks = new Map<string, number>();

  private constructor(list: readonly Monitor[]) {
    const sorted = list.toSorted((a, b) => names.compare(a.name, b.name));
    sorted.forEach(({ monitorid, name }, rank) => {
      this.named.set(monitorid, name);
      this.ranks.set(monitorid, rank);
    });
  }

  /** The same ranks as before, when they are still right. */
  static of(list: readonly Monitor[], before?: Ranks | null): Ranks {
    return before?.fits(list) ? before : new Ranks(list);
  }

  private fits(list: readonly Monitor[]): boolean {
    return list.length === this.named.size && list.every(({ monitorid, name }) => this.named.get(monitorid) === name);
  }

  get(monitor: Monitor): number {
    return this.ranks.get(monitor.monitorid) ?? 0;
  }
}

const orders: Record<Sort, (a: Monitor, b: Monitor) => number> = {
  // What needs attention comes first.
  status: (a, b) => states.indexOf(stateOf(a)) - states.indexOf(stateOf(b)),
  name: () => 0,
  load_time: (a, b) => (b.load_time ?? -1) - (a.load_time ?? -1),
  changed: (a, b) => text(b.status_since) - text(a.status_since),
};

function text(at: string | null | undefined): number {
  return at ? Date.parse(at) : 0;
}

export function matches(monitor: Monitor, view: View, words: readonly string[]): boolean {
  if (view.state && stateOf(monitor) !== view.state) return false;
  if (view.type && monitor.type !== view.type) return false;
  if (view.tag && !monitor.tags.includes(view.tag)) return false;
  if (words.length === 0) return true;
  const hay = `${monitor.name}\n${targetOf(monitor)}\n${monitor.tags.join("\n")}`.toLowerCase();
  return words.every((word) => hay.includes(word));
}

export function shown(list: readonly Monitor[], view: View, ranks = Ranks.of(list)): Monitor[] {
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const order = orders[view.sort];
  return list
    .filter((monitor) => matches(monitor, view, words))
    .sort((a, b) => order(a, b) || ranks.get(a) - ranks.get(b));
}

export function countStates(list: readonly Monitor[]): Record<State, number> {
  const counts = { down: 0, pending: 0, up: 0, paused: 0 };
  for (const monitor of list) counts[stateOf(monitor)]++;
  return counts;
}

export function tagsOf(list: readonly Monitor[]): string[] {
  return [...new Set(list.flatMap((monitor) => monitor.tags))].sort(names.compare);
}
