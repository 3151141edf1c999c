/** Below a list of the newest entries: a button that loads older ones. */
import { Button } from "@mantine/core";
import { useTexts } from "../i18n";
import styles from "./load-more.module.css";

interface Props {
  shown: number;
  limit: number;
  /** The limits to offer, in ascending order. */
  steps: readonly number[];
  show: (limit: number) => void;
}

export function LoadMore({ shown, limit, steps, show }: Props) {
  const t = useTexts();
  const next = steps.find((step) => step > limit);
  if (shown < limit) return null;
  return (
    <p className={styles.more}>
      {next === undefined ? (
        t.common.newest(shown)
      ) : (
        <Button variant="default" size="xs" onClick={() => show(next)}>
          {t.common.older}
        </Button>
      )}
    </p>
  );
}
