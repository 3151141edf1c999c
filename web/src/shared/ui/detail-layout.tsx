/** The layout of a detail page: title, actions, key facts, content. */
import type { ReactNode } from "react";
import { Link } from "../router";
import { Back } from "./icons";
import styles from "./detail-layout.module.css";
import { useTitle } from "./page";

interface Props {
  title: string;
  badge: ReactNode;
  /** The list it belongs to. */
  back: readonly [to: string, word: string];
  under: ReactNode;
  actions: ReactNode;
  children: ReactNode;
}

export function DetailLayout({ title, badge, back: [to, word], under, actions, children }: Props) {
  useTitle(title);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <Link to={to} className={styles.back}>
          <Back /> {word}
        </Link>
        <div className={styles.titleLine}>
          <h1>{title}</h1>
          {badge}
        </div>
        <div className={styles.under}>{under}</div>
        <div className={styles.actions}>{actions}</div>
      </header>
      {children}
    </div>
  );
}

export function Facts({ children }: { children: ReactNode }) {
  return <dl className={styles.facts}>{children}</dl>;
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
