/** The streams of the audit log: webhooks that receive every entry. For owners. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../shared/i18n";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine } from "../../shared/ui/copy-line";
import { Dialog } from "../../shared/ui/dialog";
import { useErrorMessage } from "../../shared/ui/error-message";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { ButtonRow, FormLayout, RequiredField, Rows } from "../../shared/ui/form-layout";
import { More, Pause, Play, Plus, Send, Trash } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { Moment } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import styles from "./audit.module.css";
import { removeStream, saveStream, streamsQuery, testStream, type Stream } from "./data";

export function Streams() {
  const t = useTexts();
  const { streams } = t;
  const { data, error, isPending, refetch } = useQuery(streamsQuery);
  const [creating, setCreating] = useState(false);
  return (
    <Panel
      id="streams"
      title={streams.title}
      lead={streams.lead}
      actions={
        <Button variant="default" leftSection={<Plus />} onClick={() => setCreating(true)}>
          {streams.new}
        </Button>
      }
    >
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && <p className={styles.result}>{streams.none}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((stream) => (
            <StreamRow key={stream.streamid} stream={stream} />
          ))}
        </ul>
      )}
      {creating && <NewStream close={() => setCreating(false)} />}
    </Panel>
  );
}

function StreamRow({ stream }: { stream: Stream }) {
  const t = useTexts();
  const { streams } = t;
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [deleting, setDeleting] = useState(false);
  const { streamid, url, disabled } = stream;
  const report = (work: Promise<unknown>) => void work.catch((error: unknown) => showToast(errorMessage(error), true));
  const test = async () => {
    const answer = await testStream(streamid);
    showToast(`${t.notifiers.testDone} ${answer === "" ? t.notifiers.noAnswer : answer}`);
  };
  return (
    <li className={styles.stream}>
      <div className={styles.words}>
        <span className={styles.url}>{url}</span>
        <span className={styles.state}>
          <State stream={stream} />
        </span>
      </div>
      <ActionMenu
        width={180}
        button={
          <button type="button" className={styles.more} aria-label={t.team.actions(url)}>
            <More />
          </button>
        }
      >
        <Menu.Item leftSection={<Send />} onClick={() => report(test())}>
          {t.notifiers.test}
        </Menu.Item>
        <Menu.Item
          leftSection={disabled ? <Play /> : <Pause />}
          onClick={() => report(saveStream(client, { streamid, isactive: disabled }))}
        >
          {disabled ? t.notifiers.turnOn : t.notifiers.turnOff}
        </Menu.Item>
        <Menu.Item leftSection={<Trash />} color="red" onClick={() => setDeleting(true)}>
          {t.monitors.delete}
        </Menu.Item>
      </ActionMenu>
      {deleting && (
        <Confirm
          title={streams.deleteTitle}
          action={t.monitors.delete}
          close={() => setDeleting(false)}
          run={() => removeStream(client, streamid)}
        >
          {streams.deleteHelp(url)}
        </Confirm>
      )}
    </li>
  );
}

function State({ stream: { cursor, disabled, failing_since, last_error } }: { stream: Stream }) {
  const { notifiers, streams } = useTexts();
  if (disabled) {
    return (
      <>
        <Badge tone="rest">{notifiers.off}</Badge> {last_error}
      </>
    );
  }
  if (failing_since) {
    return (
      <>
        <Badge tone="down">
          {streams.failing} <Moment at={failing_since} />
        </Badge>{" "}
        {last_error}
      </>
    );
  }
  return (
    <>
      <Badge tone="up">{streams.delivering}</Badge> {streams.delivered(cursor)}
    </>
  );
}

/** Asks for the URL, and shows the signing secret, once. */
function NewStream({ close }: { close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  const form = useForm({ url: "" }, async ({ url }) => {
    setSecret(await saveStream(client, { url }));
  });
  return (
    <Dialog
      title={t.streams.new}
      close={close}
      size={secret === null ? "md" : "lg"}
      // The secret is shown only once, so the dialog does not close by accident.
      closeOnClickOutside={secret === null}
      closeOnEscape={secret === null}
      withCloseButton={secret === null}
    >
      {secret === null ? (
        <FormLayout form={form} action={t.streams.create} cancel={close}>
          <RequiredField
            form={form}
            field="url"
            type="url"
            label={t.notifiers.url}
            description={t.streams.urlHelp}
            autoComplete="off"
            data-autofocus
          />
        </FormLayout>
      ) : (
        <Rows>
          <p>{t.notifiers.once}</p>
          <CopyLine label={t.notifiers.secret} value={secret} />
          <ButtonRow>
            <Button onClick={close}>{t.notifiers.saved}</Button>
          </ButtonRow>
        </Rows>
      )}
    </Dialog>
  );
}
