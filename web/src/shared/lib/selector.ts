/** Selectors of monitors, as in maintenance windows, groups and routing rules. */
import type { MonitorRow } from "../api/monitors";

export interface Selector {
  everything: boolean;
  /** IDs. */
  monitors: string[];
  /** IDs of groups, whose members it selects. */
  groups: string[];
  tags: string[];
  all_tags: string[];
}

/** Whether it selects a monitor by name or tag, as the service decides it. Only the service knows the members of groups. */
export function covers(
  { everything, monitors, tags, all_tags }: Omit<Selector, "groups">,
  monitor: Pick<MonitorRow, "monitorid" | "tags">,
): boolean {
  const has = (wanted: string) => monitor.tags.some((tag) => (wanted.endsWith("*") ? tag.startsWith(wanted.slice(0, -1)) : tag === wanted));
  return everything || monitors.includes(monitor.monitorid) || tags.some(has) || (all_tags.length > 0 && all_tags.every(has));
}

export function isSelected({ everything, monitors, groups, tags, all_tags }: Selector): boolean {
  return everything || monitors.length + groups.length + tags.length + all_tags.length > 0;
}

/** The fields of a request. */
export function selectorBody({ everything, monitors, groups, tags, all_tags }: Selector): Selector {
  return everything ? { everything, monitors: [], groups: [], tags: [], all_tags: [] } : { everything, monitors, groups, tags, all_tags };
}
