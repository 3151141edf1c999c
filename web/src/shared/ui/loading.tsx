/** A spinner in place of content that is being loaded. */
import { Loader } from "@mantine/core";
import { useFirstTexts } from "../i18n";
import styles from "./loading.module.css";

export function Loading() {
  const t = useFirstTexts();
  return (
    <div className={styles.loading} role="status">
      <Loader size={20} color="var(--ink-3)" />
      <span className="sr-only">{t.common.loading}</span>
    </div>
  );
}
