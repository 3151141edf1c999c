/** The names of those that a step notifies, and the choices of its form. */
import { useQuery } from "@tanstack/react-query";
import { notifierSummariesQuery } from "../../../shared/api/notifiers";
import { schedulesQuery } from "../../../shared/api/schedules";
import { teamQuery, useMemberName } from "../../../shared/api/team";
import { useTexts } from "../../../shared/i18n";
import { EVERYBODY, type TargetKey, type TargetKind } from "./values";

/** What a step can notify, by group; targets that were deleted are not among it. */
export function useTargetChoices() {
  const { escalation } = useTexts();
  const { data: schedules = [] } = useQuery(schedulesQuery);
  const { data: members = [] } = useQuery(teamQuery);
  const { data: notifiers = [] } = useQuery(notifierSummariesQuery);
  const group = (kind: TargetKind, items: { value: string; label: string }[]) => ({
    group: escalation.kinds[kind],
    items: items.map(({ value, label }) => ({ value: `${kind}:${value}`, label })),
  });
  return [
    group(
      "scheduleid",
      schedules.map(({ scheduleid, name }) => ({ value: scheduleid, label: name })),
    ),
    group(
      "userid",
      members.filter(({ suspended }) => !suspended).map(({ userid, name, email }) => ({ value: userid, label: name || email })),
    ),
    group(
      "notifierid",
      notifiers.map(({ notifierid, name }) => ({ value: notifierid, label: name })),
    ),
    { group: escalation.everyone, items: [{ value: EVERYBODY, label: escalation.everybody }] },
  ].filter(({ items }) => items.length > 0);
}

/** The name of a target in a sentence. */
export function useTargetName(): (key: TargetKey) => string {
  const { escalation } = useTexts();
  const { data: schedules } = useQuery(schedulesQuery);
  const { data: notifiers } = useQuery(notifierSummariesQuery);
  const memberName = useMemberName();
  return (key) => {
    const [kind, id = ""] = key.split(":");
    if (key === EVERYBODY) return escalation.everybody;
    if (kind === "userid") return memberName(id, escalation.deletedUser);
    if (kind === "scheduleid") {
      const schedule = schedules?.find(({ scheduleid }) => scheduleid === id);
      return schedule || !schedules ? escalation.onCallIn(schedule?.name ?? "…") : escalation.deletedSchedule;
    }
    return notifiers?.find(({ notifierid }) => notifierid === id)?.name ?? (notifiers ? escalation.deletedNotifier : "…");
  };
}
