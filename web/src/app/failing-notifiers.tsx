/** How many notifiers fail, as a badge in the navigation. */
import { useQuery } from "@tanstack/react-query";
import { notifierSummariesQuery, type NotifierSummary } from "../shared/api/notifiers";
import { useTexts } from "../shared/i18n";
import styles from "./shell.module.css";

export function useFailing(): NotifierSummary[] {
  const { data } = useQuery(notifierSummariesQuery);
  return data?.filter(({ health }) => health.state === "failing") ?? [];
}

export function FailingNotifiers() {
  const { length } = useFailing();
  return length > 0 && <Count failing={length} />;
}

function Count({ failing }: { failing: number }) {
  const t = useTexts();
  return (
    <span className={styles.failing}>
      <span aria-hidden="true">{failing}</span>
      <span className="sr-only">{t.notifiers.failing(failing)}</span>
    </span>
  );
}
