/** Who is notified when a monitor goes down. */
import type { Notifier } from "../../shared/api/notifiers";

/** Whether any of the linked notifiers is turned on; those that are not loaded yet count as on. */
export function isAnyoneNotified(
  linked: readonly string[],
  notifiers: readonly Pick<Notifier, "notifierid" | "isactive">[] | undefined,
): boolean {
  return linked.some((id) => notifiers?.find(({ notifierid }) => notifierid === id)?.isactive ?? true);
}
