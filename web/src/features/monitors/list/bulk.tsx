/** Actions for several monitors at once. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../../shared/api/error";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Confirm } from "../../../shared/ui/confirm";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { Cross, Pause, Pencil, Play, Trash } from "../../../shared/ui/icons";
import { showToast } from "../../../shared/ui/toast";
import type { MonitorRow } from "../data";
import { changeMonitors, deleteMonitors } from "./bulk-changes";
import { BulkEdit } from "./bulk-edit";
import styles from "./bulk.module.css";

interface Props {
  list: MonitorRow[];
  /** How many of them are hidden by filters. */
  hidden: number;
  total: number;
  all: () => void;
  clear: () => void;
  /** Removes monitors from the selection. */
  deselect: (ids: readonly string[]) => void;
}

export default function Bulk({ list, hidden, total, all, clear, deselect }: Props) {
  const t = useTexts();
  const { bulk } = t;
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const { locale } = useLanguage();
  const [busy, setBusy] = useState<"pause" | "resume" | null>(null);
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const ids = list.map(({ monitorid }) => monitorid);
  const number = (count: number) => count.toLocaleString(locale);

  const activate = (isactive: boolean) => {
    setBusy(isactive ? "resume" : "pause");
    changeMonitors(client, ids, { isactive }, deselect)
      .then(() => showToast((isactive ? bulk.resumed : bulk.paused)(ids.length)))
      // Those that could not be changed stay selected, to try again.
      .catch((error: unknown) => {
        if (!(error instanceof ApiError && error.signedOut)) showToast(errorMessage(error), true);
      })
      .finally(() => setBusy(null));
  };

  return (
    <div className={styles.bulk} role="toolbar" aria-label={bulk.label}>
      <span className="num" role="status">
        {bulk.selected(number(list.length), hidden === 0 ? null : number(hidden), hidden === list.length)}
      </span>
      {list.length - hidden < total && (
        <button type="button" className={styles.plain} onClick={all}>
          {bulk.all(number(total))}
        </button>
      )}
      <div className={styles.grow} />
      <Button {...button} leftSection={<Pause />} loading={busy === "pause"} onClick={() => activate(false)}>
        {t.monitors.pause}
      </Button>
      <Button {...button} leftSection={<Play />} loading={busy === "resume"} onClick={() => activate(true)}>
        {t.monitors.resume}
      </Button>
      <Button {...button} leftSection={<Pencil />} onClick={() => setDialog("edit")}>
        {bulk.edit}
      </Button>
      <Button {...button} variant="light" color="red" leftSection={<Trash />} onClick={() => setDialog("delete")}>
        {t.monitors.delete}
      </Button>
      <button type="button" className={styles.clear} onClick={clear} aria-label={bulk.clear}>
        <Cross />
      </button>
      {dialog === "edit" && <BulkEdit list={list} close={() => setDialog(null)} deselect={deselect} />}
      {dialog === "delete" && (
        <Confirm
          title={bulk.deleteTitle(list.length)}
          action={t.monitors.delete}
          typed={String(list.length)}
          close={() => setDialog(null)}
          run={async () => {
            await deleteMonitors(client, ids, deselect);
            showToast(bulk.deleted(ids.length));
          }}
        >
          {bulk.deleteHelp}
        </Confirm>
      )}
    </div>
  );
}

const button = { variant: "default", size: "xs" } as const;
