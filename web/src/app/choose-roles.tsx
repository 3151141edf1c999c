/** Tells the owners of a team in which everyone is an owner that there are other roles. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useMe, type Role } from "../shared/api/session";
import { teamQuery } from "../shared/api/team";
import { useTexts } from "../shared/i18n";
import { TeamNotice } from "./team-notice";

/** Several members, and all of them owners: as after the update that introduced roles. */
export function isEveryoneOwner(members: readonly { role: Role }[]): boolean {
  return members.length > 1 && members.every(({ role }) => role === "owner");
}

export function ChooseRoles() {
  const { groupid } = useMe();
  // By team: the members of another one may still need roles.
  const key = `wakeful.roles-notice.${groupid}`;
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(key) !== null);
  const dismiss = () => {
    localStorage.setItem(key, "dismissed");
    setDismissed(true);
  };
  return dismissed ? null : <Notice dismiss={dismiss} />;
}

function Notice({ dismiss }: { dismiss: () => void }) {
  // Needed on no page but the team's, which fetches it again.
  const { data } = useQuery({ ...teamQuery, staleTime: Infinity });
  return data && isEveryoneOwner(data) ? <ShownNotice dismiss={dismiss} /> : null;
}

function ShownNotice({ dismiss }: { dismiss: () => void }) {
  const { chooseRoles } = useTexts();
  return <TeamNotice text={chooseRoles.text} action={chooseRoles.action} dismiss={dismiss} />;
}
