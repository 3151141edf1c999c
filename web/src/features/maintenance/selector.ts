/** The monitors that a window covers, as the service selects them. */
import type { Maintenance } from "../../shared/api/maintenances";
import type { MonitorRow } from "../../shared/api/monitors";

type Selector = Pick<Maintenance, "everything" | "monitors" | "tags" | "all_tags">;

export function covers({ everything, monitors, tags, all_tags }: Selector, monitor: Pick<MonitorRow, "monitorid" | "tags">): boolean {
  const has = (wanted: string) => monitor.tags.some((tag) => (wanted.endsWith("*") ? tag.startsWith(wanted.slice(0, -1)) : tag === wanted));
  return everything || monitors.includes(monitor.monitorid) || tags.some(has) || (all_tags.length > 0 && all_tags.every(has));
}
