/** Push: a job or device reports, and silence means down. The API calls the type `api`. */
import { TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import { formatDuration, parseDuration } from "../../../shared/lib/duration";
import type { Form } from "../../../shared/ui/form";
import styles from "../edit/edit.module.css";
import { duration } from "./fields";
import type { TypeForm } from "./type-form";

interface PushValues {
  grace: string;
}

export const push: TypeForm<PushValues> = {
  defaults: { grace: "" },
  valuesOf: ({ grace }) => ({ grace: typeof grace === "number" ? formatDuration(grace) : "" }),
  bodyOf: ({ grace }) => (grace === "" ? {} : { grace: parseDuration(grace) ?? 0 }),
  suggestedName: () => "",
  labels: (t) => ({ grace: t.form.grace }),
  Target,
  durations: ["grace"],
  Passive: Grace,
};

/** How late a report may be if nothing else is set, in seconds: a tenth of the interval, as the service has it. */
export function defaultGrace(interval: number): number {
  return Math.max(5, Math.ceil(interval / 10));
}

function Target() {
  const t = useTexts();
  return <p className={styles.note}>{t.form.apiNote}</p>;
}

function Grace({ form }: { form: Form<PushValues> }) {
  const t = useTexts();
  return <TextInput {...duration(form, "grace")} label={t.form.grace} description={t.form.graceHelp} placeholder={t.form.auto} />;
}
