/** Shown in place of a list that is empty, or a page that does not exist. */
import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
