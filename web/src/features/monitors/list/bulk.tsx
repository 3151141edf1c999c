/** Actions for several monitors at once. */
import { Button, TagsInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Confirm } from "../../../shared/ui/confirm";
import { Dialog } from "../../../shared/ui/dialog";
import { Cross, Pause, Play, Send, Tag, Trash } from "../../../shared/ui/icons";
import { ButtonRow } from "../../../shared/ui/form-layout";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { showToast } from "../../../shared/ui/toast";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { remove, save, type MonitorRow } from "../data";
import { linked, NotifierPicker, type Way } from "../notifier-picker";
import { forEachConcurrent } from "./for-each-concurrent";
import styles from "./list.module.css";

type Action = "pause" | "resume" | "tag" | "notify" | "delete";

interface Props {
  list: MonitorRow[];
  /** How many of them are hidden by filters. */
  hidden: number;
  total: number;
  all: () => void;
  /** Replaces the selection. */
  select: (ids: readonly string[]) => void;
}

export default function Bulk({ list, hidden, total, all, select }: Props) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const { locale } = useLanguage();
  const [running, setRunning] = useState<{ action: Action; done: number } | null>(null);
  const [dialog, setDialog] = useState<"delete" | "tag" | "notify" | null>(null);

  const run = async (action: Action, act: (monitor: MonitorRow) => Promise<unknown>, message: (count: number) => string) => {
    const progress = (done: number) => setRunning({ action, done });
    progress(0);
    const { failed, error } = await forEachConcurrent(list, act, progress);
    setRunning(null);
    if (failed.length > 0) showToast(t.bulk.failed(failed.length, errorMessage(error)), true);
    else showToast(message(list.length));
    // The failed ones stay selected, to try again.
    select(failed.map(({ monitorid }) => monitorid));
  };
  const activate = (isactive: boolean) =>
    run(isactive ? "resume" : "pause", ({ monitorid }) => save(client, { monitorid, isactive }), isactive ? t.bulk.resumed : t.bulk.paused);
  const status =
    running === null
      ? t.bulk.selected(list.length, hidden)
      : t.bulk.working(t.bulk.progress[running.action], running.done.toLocaleString(locale), list.length.toLocaleString(locale));

  return (
    <div className={styles.bulk} role="toolbar" aria-label={t.bulk.label}>
      <span className="num">{status}</span>
      {list.length < total && (
        <button type="button" className={styles.plain} onClick={all}>
          {t.bulk.all(total)}
        </button>
      )}
      <div className={styles.grow} />
      <Button variant="default" size="xs" leftSection={<Pause />} disabled={running !== null} onClick={() => void activate(false)}>
        {t.monitors.pause}
      </Button>
      <Button variant="default" size="xs" leftSection={<Play />} disabled={running !== null} onClick={() => void activate(true)}>
        {t.monitors.resume}
      </Button>
      <Button variant="default" size="xs" leftSection={<Tag />} disabled={running !== null} onClick={() => setDialog("tag")}>
        {t.bulk.tag}
      </Button>
      <Button variant="default" size="xs" leftSection={<Send />} disabled={running !== null} onClick={() => setDialog("notify")}>
        {t.notifiers.bulk}
      </Button>
      <Button variant="light" color="red" size="xs" leftSection={<Trash />} disabled={running !== null} onClick={() => setDialog("delete")}>
        {t.monitors.delete}
      </Button>
      <button type="button" className={styles.clear} onClick={() => select([])} aria-label={t.bulk.clear}>
        <Cross />
      </button>
      {dialog === "delete" && (
        <Confirm
          title={t.bulk.deleteTitle(list.length)}
          action={t.monitors.delete}
          typed={String(list.length)}
          close={() => setDialog(null)}
          run={() => run("delete", ({ monitorid }) => remove(client, monitorid), t.bulk.deleted)}
        >
          {t.bulk.deleteHelp}
        </Confirm>
      )}
      {dialog === "tag" && (
        <TagDialog
          close={() => setDialog(null)}
          apply={(tags) => run("tag", ({ monitorid, tags: old }) => save(client, { monitorid, tags: [...old, ...tags] }), t.bulk.tagged)}
        />
      )}
      {dialog === "notify" && (
        <NotifierDialog
          close={() => setDialog(null)}
          apply={(way, ids) =>
            run(
              "notify",
              ({ monitorid, notifiers }) => save(client, { monitorid, notifiers: linked(notifiers, way, ids) }),
              t.notifiers.bulkDone,
            )
          }
        />
      )}
    </div>
  );
}

const ways: readonly Way[] = ["add", "remove", "set"];

function NotifierDialog({ close, apply }: { close: () => void; apply: (way: Way, ids: string[]) => Promise<void> }) {
  const t = useTexts();
  const [way, setWay] = useState<Way>("add");
  const [ids, setIds] = useState<string[]>([]);
  return (
    <Dialog title={t.notifiers.bulkTitle} close={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          close();
          void apply(way, ids);
        }}
      >
        <SegmentedControl
          label={t.notifiers.bulkWay}
          choices={ways.map((choice) => [choice, t.notifiers.bulkWays[choice]] as const)}
          chosen={way}
          choose={setWay}
        />
        <NotifierPicker chosen={ids} choose={setIds} quiet />
        <ButtonRow>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit" disabled={ids.length === 0 && way !== "set"}>
            {t.common.save}
          </Button>
        </ButtonRow>
      </form>
    </Dialog>
  );
}

function TagDialog({ close, apply }: { close: () => void; apply: (tags: string[]) => Promise<void> }) {
  const t = useTexts();
  const [tags, setTags] = useState<string[]>([]);
  return (
    <Dialog title={t.bulk.tagTitle} close={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          close();
          if (tags.length > 0) void apply(tags);
        }}
      >
        <TagsInput
          label={t.form.tags}
          description={t.form.tagsHelp}
          value={tags}
          onChange={setTags}
          dropdownOpened={false}
          data-autofocus
        />
        <ButtonRow>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit">{t.bulk.tag}</Button>
        </ButtonRow>
      </form>
    </Dialog>
  );
}
