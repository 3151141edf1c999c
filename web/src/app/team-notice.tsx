/** A notice above the page about the people in the team, which links to them. */
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "../shared/router";
import { useTexts } from "../shared/i18n";
import styles from "./shell.module.css";

interface Props {
  text: string;
  /** The label of the link. */
  action: string;
  follow?: () => void;
  dismiss: () => void;
  children?: ReactNode;
}

export function TeamNotice({ text, action, follow, dismiss, children }: Props) {
  const t = useTexts();
  return (
    <section className={styles.review} aria-label={action}>
      <p role="status">{text}</p>
      {children}
      <div className={styles.reviewActions}>
        <Button component={Link} to="/team" size="xs" onClick={follow}>
          {action}
        </Button>
        <Button variant="default" size="xs" onClick={dismiss}>
          {t.common.dismiss}
        </Button>
      </div>
    </section>
  );
}
