import type { ReactNode } from "react";
import styles from "./badge.module.css";

export type Tone = "up" | "down" | "wait" | "rest" | "accent";

/** A state as one word, in the colors of monitor statuses. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}
