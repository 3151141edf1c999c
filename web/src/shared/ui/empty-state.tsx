/** Shown in place of a list that is empty, or a page that does not exist. */
import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

interface Props {
  title: string;
  /** Whether it is the whole page, whose heading the title then is. */
  page?: boolean;
  children?: ReactNode;
}

export function EmptyState({ title, page = false, children }: Props) {
  const Title = page ? "h1" : "p";
  return (
    <div className={styles.empty}>
      <Title className={styles.title}>{title}</Title>
      {children}
    </div>
  );
}
