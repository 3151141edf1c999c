/** Selects the notifiers of monitors. */
import { Button, Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { use, useState } from "react";
import { describeNotifier, notifiersQuery } from "../../shared/api/notifiers";
import { useTexts } from "../../shared/i18n";
import { NotifierDialogContext, type NotifierDialogProps } from "../../shared/lib/notifier-dialog";
import { Badge } from "../../shared/ui/badge";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Plus } from "../../shared/ui/icons";
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
  const { data, error, refetch } = useQuery(notifiersQuery);
  if (!data) return error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <>
      {data.length === 0 && <p className={styles.none}>{t.notifiers.chooseNone}</p>}
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
                  {notifier.health.state === "failing" && <Badge tone="down">{t.notifiers.health.failing}</Badge>}
                  {!notifier.isactive && <Badge tone="wait">{t.notifiers.off}</Badge>}
                </span>
              }
              description={describeNotifier(notifier, t.notifiers.kinds)}
            />
          ))}
      </div>
      {chosen.length === 0 && !quiet && data.length > 0 && <p className={styles.warning}>{t.monitors.nobody}</p>}
      <CreateInPlace created={({ notifierid }) => choose(linked(chosen, "add", [notifierid]))} />
    </>
  );
}

/** A new notifier, which is then selected. */
function CreateInPlace({ created }: Pick<NotifierDialogProps, "created">) {
  const t = useTexts();
  const dialog = use(NotifierDialogContext);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button className={styles.create} variant="default" size="xs" leftSection={<Plus />} onClick={() => setOpen(true)}>
        {t.notifiers.new}
      </Button>
      {open && dialog({ close: () => setOpen(false), created })}
    </>
  );
}
