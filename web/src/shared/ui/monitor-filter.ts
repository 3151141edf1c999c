/** The monitors that a member or an API key is limited to: in words, and as fields of a form. */
import type { components } from "../api/schema";
import type { Texts } from "../i18n";

type MonitorFilter = components["schemas"]["MonitorFilter"];

/** Either tags or monitors count; empty ones are no limit. */
export interface FilterValues {
  limitBy: "tags" | "monitors";
  tags: string[];
  monitors: string[];
}

export function filterText(t: Texts, filter: MonitorFilter): string {
  return filter.tags ? t.monitorFilter.list(filter.tags.join(", ")) : t.monitorFilter.monitors(filter.monitors?.length ?? 0);
}

export function filterValues(filter?: MonitorFilter | null): FilterValues {
  return { limitBy: filter?.monitors ? "monitors" : "tags", tags: filter?.tags ?? [], monitors: filter?.monitors ?? [] };
}

/** The fields of a new limit; none without one. */
export function filterFields({ limitBy, tags, monitors }: FilterValues): { tags?: string[]; monitors?: string[] } {
  if (limitBy === "tags") return tags.length > 0 ? { tags } : {};
  return monitors.length > 0 ? { monitors } : {};
}

/** The fields that change a limit; none if it stays as it is. */
export function filterChange(before: MonitorFilter | null | undefined, values: FilterValues) {
  const [old, now] = [filterFields(filterValues(before)), filterFields(values)];
  if (JSON.stringify(old) === JSON.stringify(now)) return {};
  return Object.keys(now).length > 0 ? now : { monitor_filter: null };
}
