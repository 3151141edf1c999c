/** Menus and dialogs with which users respond to alerts, one or several. */
import { Menu, Textarea } from "@mantine/core";
import { useState, type ReactElement } from "react";
import { useTexts } from "../../../shared/i18n";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { Dialog } from "../../../shared/ui/dialog";
import { useForm } from "../../../shared/ui/form";
import { FormLayout } from "../../../shared/ui/form-layout";
import { UntilDialog } from "../../../shared/ui/until-dialog";
import type { Snooze } from "./data";

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
      {asking && (
        <UntilDialog
          title={alerts.snoozeTitle}
          action={alerts.snooze}
          help={alerts.snoozeHelp}
          invalid={alerts.snoozeInvalid}
          days={30}
          run={(until) => snooze({ until })}
          close={() => setAsking(false)}
        />
      )}
    </>
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
