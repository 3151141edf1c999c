/**
 * After a password reset: who else is in the team. Someone may have signed up with
 * this address before its owner did, and added others.
 */
import { useQuery } from "@tanstack/react-query";
import { useMe } from "../shared/api/session";
import { teamQuery } from "../shared/api/team";
import { useTexts } from "../shared/i18n";
import { TeamNotice } from "./team-notice";

export default function TeamReview({ close }: { close: () => void }) {
  const t = useTexts();
  const { userid } = useMe();
  const { data } = useQuery(teamQuery);
  const others = data?.filter((user) => user.userid !== userid) ?? [];
  if (others.length === 0) return null;
  return (
    <TeamNotice text={t.team.review} action={t.team.reviewAction} follow={close} dismiss={close}>
      <ul>
        {others.map((user) => (
          <li key={user.userid}>{user.email}</li>
        ))}
      </ul>
    </TeamNotice>
  );
}
