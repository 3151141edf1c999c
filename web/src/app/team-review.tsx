/**
 * After a password reset: who else is in the team. Someone may have signed up with
 * this address before its owner did, and added others.
 */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useMe } from "../shared/api/session";
import { teamQuery } from "../shared/api/team";
import { useTexts } from "../shared/i18n";
import styles from "./shell.module.css";

export default function TeamReview({ close }: { close: () => void }) {
  const t = useTexts();
  const { userid } = useMe();
  const { data } = useQuery(teamQuery);
  const others = data?.filter((user) => user.userid !== userid) ?? [];
  if (others.length === 0) return null;
  return (
    <section className={styles.review} aria-label={t.team.reviewAction}>
      <p role="status">{t.team.review}</p>
      <ul>
        {others.map((user) => (
          <li key={user.userid}>{user.email}</li>
        ))}
      </ul>
      <div className={styles.reviewActions}>
        <Button component={Link} to="/team" size="xs" onClick={close}>
          {t.team.reviewAction}
        </Button>
        <Button variant="default" size="xs" onClick={close}>
          {t.common.dismiss}
        </Button>
      </div>
    </section>
  );
}
