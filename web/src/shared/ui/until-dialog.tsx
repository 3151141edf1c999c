/** Asks for a time in the future. */
import { TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useTexts } from "../i18n";
import { parseField, toField, tomorrowMorning } from "../lib/date-field";
import { Dialog } from "./dialog";
import { useForm } from "./form";
import { FormLayout } from "./form-layout";

interface Props {
  title: string;
  action: string;
  help: string;
  /** Shown if the time is not within the limits. */
  invalid: string;
  /** At most so many days from now. */
  days: number;
  /** The earliest time; now if there is none. */
  after?: number;
  /** Fields below the time. */
  children?: ReactNode;
  run: (until: string) => Promise<void>;
  close: () => void;
}

export function UntilDialog({ title, action, help, invalid, days, after = 0, children, run, close }: Props) {
  const t = useTexts();
  const parse = (until: string) => parseField(until, Math.max(after, Date.now()), days);
  const [suggested] = useState(() => toField(tomorrowMorning(new Date(Math.max(after, Date.now())))));
  const form = useForm(
    { until: suggested },
    async ({ until }) => {
      await run(parse(until) ?? until);
      close();
    },
    ({ until }) => (parse(until) === null ? { until: invalid } : {}),
  );
  return (
    <Dialog title={title} close={close}>
      <FormLayout form={form} action={action} cancel={close}>
        <TextInput
          type="datetime-local"
          name="until"
          label={t.alerts.snoozeTime}
          description={help}
          value={form.values.until}
          error={form.errors.until}
          onChange={({ currentTarget }) => form.set("until", currentTarget.value)}
          data-autofocus
        />
        {children}
      </FormLayout>
    </Dialog>
  );
}
