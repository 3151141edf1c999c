/** Menus and dialogs with which users respond to alerts, one or several. */
import { Menu, Textarea, TextInput } from "@mantine/core";
import { useState, type ReactElement } from "react";
import { ApiError } from "../../../shared/api/error";
import { useTexts } from "../../../shared/i18n";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { Dialog } from "../../../shared/ui/dialog";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { useForm } from "../../../shared/ui/form";
import { FormLayout } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import type { Snooze } from "./data";
import { parseEnd, suggestedEnd, toField } from "./snooze";

/** Runs an action, one at a time, and shows why it failed. */
export function useRun(): [busy: boolean, run: (act: () => Promise<void>) => void] {
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const run = (act: () => Promise<void>) => {
    setBusy(true);
    act()
      .catch((error: unknown) => {
        // If the session has ended, the login page says so.
        if (!(error instanceof ApiError && error.signedOut)) showToast(errorMessage(error), true);
      })
      .finally(() => setBusy(false));
  };
  return [busy, run];
}

const HOURS = [1, 4];

interface SnoozeProps {
  button: ReactElement;
  snooze: (span: Snooze) => Promise<void>;
  run: (act: () => Promise<void>) => void;
}

/** For an hour, for four, or until a time that is entered. */
export function SnoozeMenu({ button, snooze, run }: SnoozeProps) {
  const { alerts } = useTexts();
  const [asking, setAsking] = useState(false);
  return (
    <>
      <ActionMenu button={button} width={170}>
        {HOURS.map((hours) => (
          <Menu.Item key={hours} onClick={() => run(() => snooze({ seconds: hours * 3600 }))}>
            {alerts.snoozeFor(hours)}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => setAsking(true)}>{alerts.snoozeUntil}</Menu.Item>
      </ActionMenu>
      {asking && <SnoozeDialog snooze={snooze} close={() => setAsking(false)} />}
    </>
  );
}

function SnoozeDialog({ snooze, close }: { snooze: SnoozeProps["snooze"]; close: () => void }) {
  const { alerts } = useTexts();
  const form = useForm(
    { until: toField(suggestedEnd(new Date())) },
    async ({ until }) => {
      await snooze({ until: parseEnd(until, Date.now()) ?? until });
      close();
    },
    ({ until }) => (parseEnd(until, Date.now()) === null ? { until: alerts.snoozeInvalid } : {}),
  );
  return (
    <Dialog title={alerts.snoozeTitle} close={close}>
      <FormLayout form={form} action={alerts.snooze} cancel={close}>
        <TextInput
          type="datetime-local"
          name="until"
          label={alerts.snoozeTime}
          description={alerts.snoozeHelp}
          value={form.values.until}
          error={form.errors.until}
          onChange={({ currentTarget }) => form.set("until", currentTarget.value)}
          data-autofocus
        />
      </FormLayout>
    </Dialog>
  );
}

interface ResolveProps {
  /** How many alerts. */
  count: number;
  resolve: (comment: string) => Promise<void>;
  close: () => void;
}

/** Explains what it means that an alert is resolved, and asks for a comment. */
export function ResolveDialog({ count, resolve, close }: ResolveProps) {
  const { alerts } = useTexts();
  const form = useForm({ comment: "" }, async ({ comment }) => {
    await resolve(comment);
    close();
  });
  return (
    <Dialog title={alerts.resolveTitle(count)} close={close}>
      <FormLayout form={form} action={alerts.resolve} cancel={close}>
        <p>{alerts.resolveHelp}</p>
        <Textarea
          name="comment"
          label={alerts.comment}
          description={alerts.commentHelp}
          rows={3}
          maxLength={4000}
          value={form.values.comment}
          error={form.errors.comment}
          onChange={({ currentTarget }) => form.set("comment", currentTarget.value)}
          data-autofocus
        />
      </FormLayout>
    </Dialog>
  );
}
