/** Whether the user is limited to some monitors, and what that means for windows. */
import { useQuery } from "@tanstack/react-query";
import type { Maintenance } from "./maintenances";
import { useMay, useMe } from "./session";
import { teamQuery } from "./team";

export function useIsLimited(): boolean {
  const { userid } = useMe();
  const { data } = useQuery(teamQuery);
  return !!data?.find((member) => member.userid === userid)?.monitor_filter;
}

/** Whether a window names its monitors one by one. */
export function onlyNames({
  everything,
  groups,
  tags,
  all_tags,
}: Pick<Maintenance, "everything" | "groups" | "tags" | "all_tags">): boolean {
  return !everything && groups.length + tags.length + all_tags.length === 0;
}

/** Those who are limited to some monitors can change windows that name these, and no others. */
export function useMayChange(): (window: Maintenance) => boolean {
  const responds = useMay("respond");
  const limited = useIsLimited();
  return (window) => responds && (!limited || onlyNames(window));
}
