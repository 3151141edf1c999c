/** The monitors that a member or an API key is limited to, in words. */
import type { components } from "../api/schema";
import type { Texts } from "../i18n";

export function filterText(t: Texts, filter: components["schemas"]["MonitorFilter"]): string {
  return filter.tags ? t.monitorFilter.list(filter.tags.join(", ")) : t.monitorFilter.monitors(filter.monitors?.length ?? 0);
}
