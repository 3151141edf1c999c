/** Push: a job or device reports, and silence means down. The API calls the type `api`. */
import { Textarea, TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import { formatDuration, parseDuration } from "../../../shared/lib/duration";
import { text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import styles from "../edit/edit.module.css";
import { duration } from "./fields";
import type { TypeForm } from "./type-form";

interface PushValues {
  grace: string;
  "api.schedule": string;
  "api.tz": string;
  "api.max_runtime": string;
  "api.slug": string;
}

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const push: TypeForm<PushValues> = {
  defaults: { grace: "", "api.schedule": "", "api.tz": browserZone, "api.max_runtime": "", "api.slug": "" },
  valuesOf: ({ grace, api }) => ({
    grace: typeof grace === "number" ? formatDuration(grace) : "",
    ...(api && {
      "api.schedule": api.schedule,
      // Without a schedule, the zone means nothing yet.
      "api.tz": api.schedule === "" ? browserZone : api.tz,
      "api.max_runtime": typeof api.max_runtime === "number" ? formatDuration(api.max_runtime) : "",
      "api.slug": api.slug,
    }),
  }),
  bodyOf: (values) => ({
    ...(values.grace === "" ? {} : { grace: parseDuration(values.grace) ?? 0 }),
    api: {
      schedule: values["api.schedule"].trim(),
      ...(values["api.schedule"].trim() === "" ? {} : { tz: values["api.tz"].trim() }),
      max_runtime: values["api.max_runtime"] === "" ? 0 : (parseDuration(values["api.max_runtime"]) ?? 0),
      slug: values["api.slug"].trim(),
    },
  }),
  suggestedName: (values) => values["api.slug"],
  labels: (t) => ({
    grace: t.form.grace,
    "api.schedule": t.form.jobSchedule,
    "api.tz": t.form.jobZone,
    "api.max_runtime": t.form.maxRuntime,
    "api.slug": t.form.jobSlug,
  }),
  Target,
  durations: ["grace", "api.max_runtime"],
  Passive,
};

/** How late a report may be if nothing else is set, in seconds: a tenth of the interval, as the service has it. */
export function defaultGrace(interval: number): number {
  return Math.max(5, Math.ceil(interval / 10));
}

function Target() {
  const t = useTexts();
  return <p className={styles.note}>{t.form.apiNote}</p>;
}

function Passive({ form }: { form: Form<PushValues> }) {
  const t = useTexts();
  return (
    <>
      <TextInput {...duration(form, "grace")} label={t.form.grace} description={t.form.graceHelp} placeholder={t.form.auto} />
      <Textarea
        {...text(form, "api.schedule")}
        label={t.form.jobSchedule}
        description={t.form.jobScheduleHelp}
        placeholder="30 2 * * *"
        autosize
        maxRows={4}
      />
      <FieldPair wide>
        <TextInput {...text(form, "api.tz")} label={t.form.jobZone} description={t.form.jobZoneHelp} placeholder="Europe/Berlin" />
        <TextInput
          {...duration(form, "api.max_runtime")}
          label={t.form.maxRuntime}
          description={t.form.maxRuntimeHelp}
          placeholder={t.form.auto}
        />
      </FieldPair>
      <TextInput {...text(form, "api.slug")} label={t.form.jobSlug} description={t.form.jobSlugHelp} placeholder="nightly-backup" />
    </>
  );
}
