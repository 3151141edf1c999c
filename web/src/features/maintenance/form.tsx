/** The fields of a window: its name, what it covers, and what happens meanwhile. */
import { Switch, Textarea, TextInput } from "@mantine/core";
import { formatDuration, parseDuration } from "../../shared/lib/duration";
import { useTexts } from "../../shared/i18n";
import { flag, text, type Form } from "../../shared/ui/form";
import { RequiredField } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { SelectorFields } from "../../shared/ui/selector-fields";
import styles from "./form.module.css";
import type { Values } from "./values";

export type WindowForm = Form<Values>;

export function About({ form, stored }: { form: WindowForm; stored: boolean }) {
  const { form: texts } = useTexts().maintenance;
  return (
    <Panel>
      <div className={page.fields}>
        <RequiredField form={form} field="name" label={texts.name} maxLength={255} autoComplete="off" />
        <Textarea
          {...text(form, "description")}
          label={texts.description}
          description={texts.descriptionHelp}
          rows={2}
          autosize
          maxRows={8}
          maxLength={4000}
        />
        {stored && <Switch {...flag(form, "isactive")} label={texts.active} description={texts.activeHelp} />}
      </div>
    </Panel>
  );
}

export function Selection({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  return (
    <Panel title={texts.what}>
      <div className={page.fields}>
        <SelectorFields form={form} label={texts.what} />
      </div>
    </Panel>
  );
}

/** A duration as text; when it is complete, the field shows what was understood. */
export function durationField(form: WindowForm, field: "duration" | "grace") {
  return {
    ...text(form, field),
    autoComplete: "off",
    onBlur: () => {
      const seconds = parseDuration(form.values[field]);
      if (seconds !== null) form.set(field, formatDuration(seconds));
    },
  };
}

export function EffectFields({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const { checks, alerts, counts } = form.values;
  return (
    <Panel title={texts.effects}>
      <div className={page.fields}>
        <Switch
          name="alerts"
          label={texts.suppress}
          description={texts.suppressHelp}
          checked={alerts === "suppress"}
          error={form.errors.alerts}
          onChange={({ currentTarget }) => form.set("alerts", currentTarget.checked ? "suppress" : "notify")}
        />
        <Switch
          name="counts"
          label={texts.exclude}
          description={texts.excludeHelp}
          checked={counts === "excluded"}
          error={form.errors.counts}
          onChange={({ currentTarget }) => form.set("counts", currentTarget.checked ? "excluded" : "counted")}
        />
        <Switch
          name="checks"
          label={texts.pause}
          description={texts.pauseHelp}
          checked={checks === "pause"}
          error={form.errors.checks}
          onChange={({ currentTarget }) => form.set("checks", currentTarget.checked ? "pause" : "run")}
        />
        {alerts === "suppress" && (
          <TextInput className={styles.short} {...durationField(form, "grace")} label={texts.grace} description={texts.graceHelp} />
        )}
      </div>
    </Panel>
  );
}
