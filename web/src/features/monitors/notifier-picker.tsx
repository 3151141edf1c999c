/** Selects the notifiers of monitors. */
import { Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { notifiers, receiverOf } from "../../shared/api/notifiers";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import styles from "./notifier-picker.module.css";

export type Way = "add" | "remove" | "set";

/** The notifiers of a monitor after adding, removing or replacing some. */
export function linked(before: readonly string[], way: Way, ids: readonly string[]): string[] {
  if (way === "set") return [...ids];
  if (way === "remove") return before.filter((id) => !ids.includes(id));
  return [...new Set([...before, ...ids])];
}

interface Props {
  chosen: readonly string[];
  choose: (ids: string[]) => void;
  /** Without the warning that no one is notified. */
  quiet?: boolean;
}

export function NotifierPicker({ chosen, choose, quiet = false }: Props) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(notifiers);
  if (!data) return error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />;
  if (data.length === 0) {
    return (
      <p className={styles.none}>
        {t.notifiers.chooseNone} <Link to="/notifier/new">{t.notifiers.new}</Link>
      </p>
    );
  }
  return (
    <>
      <div className={styles.list} role="group" aria-label={t.notifiers.choose}>
        {data
          .toSorted((a, b) => a.name.localeCompare(b.name))
          .map((notifier) => (
            <Checkbox
              key={notifier.notifierid}
              checked={chosen.includes(notifier.notifierid)}
              onChange={(event) => choose(linked(chosen, event.currentTarget.checked ? "add" : "remove", [notifier.notifierid]))}
              label={
                <span className={styles.label}>
                  {notifier.name}
                  {!notifier.isactive && <Badge tone="wait">{t.notifiers.off}</Badge>}
                </span>
              }
              description={receiverOf(notifier)}
            />
          ))}
      </div>
      {chosen.length === 0 && !quiet && <p className={styles.warning}>{t.notifiers.nobody}</p>}
    </>
  );
}
