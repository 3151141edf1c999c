/** Push: a job or device reports, and silence means down. The API calls the type `api`. */
import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { valuesOfSet } from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { formatDuration, parseDuration } from "../../../shared/lib/duration";
import { readerZone } from "../../../shared/lib/zone";
import { flag, text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import type { Monitor } from "../data";
import styles from "../edit/edit.module.css";
import { choice, duration } from "./fields";
import { ScheduleTimes } from "./schedule-times";
import type { TypeForm } from "./type-form";

interface PushValues {
  grace: string;
  "api.schedule": string;
  "api.tz": string;
  "api.max_runtime": string;
  "api.slug": string;
  "api.post_only": boolean;
  "api.keywords.start": string;
  "api.keywords.success": string;
  "api.keywords.failure": string;
  "api.keywords.otherwise": Otherwise;
}

type Otherwise = NonNullable<Monitor["api"]>["keywords"]["otherwise"];

const others = valuesOfSet<Otherwise>({ ignore: true, fail: true });

export const push: TypeForm<PushValues> = {
  defaults: {
    grace: "",
    "api.schedule": "",
    "api.tz": readerZone(),
    "api.max_runtime": "",
    "api.slug": "",
    "api.post_only": false,
    "api.keywords.start": "",
    "api.keywords.success": "",
    "api.keywords.failure": "",
    "api.keywords.otherwise": "ignore",
  },
  valuesOf: ({ grace, api }) => ({
    grace: typeof grace === "number" ? formatDuration(grace) : "",
    ...(api && {
      "api.schedule": api.schedule,
      // Without a schedule, the zone means nothing yet.
      "api.tz": api.schedule === "" ? readerZone() : api.tz,
      "api.max_runtime": typeof api.max_runtime === "number" ? formatDuration(api.max_runtime) : "",
      "api.slug": api.slug,
      "api.post_only": api.post_only,
      "api.keywords.start": api.keywords.start,
      "api.keywords.success": api.keywords.success,
      "api.keywords.failure": api.keywords.failure,
      "api.keywords.otherwise": api.keywords.otherwise,
    }),
  }),
  bodyOf: (values) => ({
    ...(values.grace === "" ? {} : { grace: parseDuration(values.grace) ?? 0 }),
    api: {
      schedule: values["api.schedule"].trim(),
      ...(values["api.schedule"].trim() === "" ? {} : { tz: values["api.tz"].trim() }),
      max_runtime: values["api.max_runtime"] === "" ? 0 : (parseDuration(values["api.max_runtime"]) ?? 0),
      slug: values["api.slug"].trim(),
      post_only: values["api.post_only"],
      keywords: {
        start: values["api.keywords.start"].trim(),
        success: values["api.keywords.success"].trim(),
        failure: values["api.keywords.failure"].trim(),
        otherwise: values["api.keywords.otherwise"],
      },
    },
  }),
  suggestedName: (values) => values["api.slug"],
  labels: (t) => ({
    grace: t.form.grace,
    "api.schedule": t.form.jobSchedule,
    "api.tz": t.form.jobZone,
    "api.max_runtime": t.form.maxRuntime,
    "api.slug": t.form.jobSlug,
    "api.post_only": t.form.postOnly,
    "api.keywords.start": t.form.startKeywords,
    "api.keywords.success": t.form.successKeywords,
    "api.keywords.failure": t.form.failureKeywords,
    "api.keywords.otherwise": t.form.otherwise,
  }),
  Target,
  Advanced,
  advanced: ["api.post_only", "api.keywords.start", "api.keywords.success", "api.keywords.failure", "api.keywords.otherwise"],
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
      <ScheduleTimes schedule={form.values["api.schedule"]} tz={form.values["api.tz"]} />
      <TextInput {...text(form, "api.slug")} label={t.form.jobSlug} description={t.form.jobSlugHelp} placeholder="nightly-backup" />
    </>
  );
}

/** What pings mean: by their method, and by words in what the job prints. */
function Advanced({ form }: { form: Form<PushValues> }) {
  const t = useTexts();
  return (
    <>
      <Switch {...flag(form, "api.post_only")} label={t.form.postOnly} description={t.form.postOnlyHelp} />
      <p className={styles.note}>{t.form.keywordsHelp}</p>
      <FieldPair>
        <TextInput {...text(form, "api.keywords.failure")} label={t.form.failureKeywords} placeholder="ERROR, FATAL" />
        <TextInput {...text(form, "api.keywords.success")} label={t.form.successKeywords} placeholder="done" />
      </FieldPair>
      <FieldPair>
        <TextInput {...text(form, "api.keywords.start")} label={t.form.startKeywords} />
        <Select
          {...choice(form, "api.keywords.otherwise", others)}
          label={t.form.otherwise}
          data={others.map((value) => ({ value, label: t.form.otherwiseChoices[value] }))}
        />
      </FieldPair>
    </>
  );
}
