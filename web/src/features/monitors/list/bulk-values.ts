/** The form of a bulk edit, and the change that it stands for. */
import type { Change } from "./bulk-changes";

export type Way = "keep" | "add" | "remove";

export interface BulkValues {
  /** In seconds, or empty. */
  interval: string;
  retries: number | "";
  tagsAdd: string[];
  tagsRemove: string[];
  /** What happens to each notifier; those that are missing are left as they are. */
  notifiers: Readonly<Record<string, Way>>;
}

export const unchanged: BulkValues = { interval: "", retries: "", tagsAdd: [], tagsRemove: [], notifiers: {} };

/** Only the fields that were filled in, or null if there are none. */
export function changeOf({ interval, retries, tagsAdd, tagsRemove, notifiers }: BulkValues): Change | null {
  const linked = (way: Way) => Object.keys(notifiers).filter((id) => notifiers[id] === way);
  const change: Change = {
    ...(interval !== "" && { heartbeat_interval: Number(interval) }),
    ...(retries !== "" && { retries }),
    ...(tagsAdd.length > 0 && { tags_add: tagsAdd }),
    ...(tagsRemove.length > 0 && { tags_remove: tagsRemove }),
    ...(linked("add").length > 0 && { notifiers_add: linked("add") }),
    ...(linked("remove").length > 0 && { notifiers_remove: linked("remove") }),
  };
  return Object.keys(change).length === 0 ? null : change;
}
