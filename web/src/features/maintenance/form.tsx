/** The fields of a window: its name, what it covers, and what happens meanwhile. */
import { MultiSelect, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { notifiersQuery } from "../../shared/api/notifiers";
import { formatDuration, parseDuration } from "../../shared/lib/duration";
import { useTexts } from "../../shared/i18n";
import { flag, text, type Form } from "../../shared/ui/form";
import { RequiredField } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { SelectorFields } from "../../shared/ui/selector-fields";
import styles from "./form.module.css";
import { MAX_ANNOUNCEMENTS, type Values } from "./values";

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
        {!form.values.everything && <Switch {...flag(form, "dependents")} label={texts.dependents} description={texts.dependentsHelp} />}
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

/** Who is notified of the window itself, and when. */
export function AnnounceFields({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const { data } = useQuery(notifiersQuery);
  const notifiers = form.values["announce.notifiers"];
  const options = useMemo(() => {
    const known = (data ?? []).map(({ notifierid, name }) => ({ value: notifierid, label: name }));
    const deleted = notifiers.filter((id) => !known.some(({ value }) => value === id));
    return [...known, ...deleted.map((id) => ({ value: id, label: id }))];
  }, [data, notifiers]);
  const shown = (text: string) => {
    const seconds = parseDuration(text);
    return seconds === null ? text : formatDuration(seconds);
  };
  return (
    <Panel title={texts.announce}>
      <div className={page.fields}>
        <MultiSelect
          name="announce.notifiers"
          label={texts.announceTo}
          description={texts.announceToHelp}
          data={options}
          searchable
          hidePickedOptions
          value={notifiers}
          error={form.errors["announce.notifiers"]}
          onChange={(value) => form.set("announce.notifiers", value)}
        />
        {notifiers.length > 0 && (
          <>
            <TagsInput
              name="announce.before"
              label={texts.before}
              description={texts.beforeHelp}
              data={[]}
              maxTags={MAX_ANNOUNCEMENTS}
              splitChars={[","]}
              value={form.values["announce.before"]}
              error={form.errors["announce.before"]}
              onChange={(value) => form.set("announce.before", [...new Set(value.map(shown))])}
            />
            <Switch {...flag(form, "announce.start")} label={texts.announceStart} />
            <Switch {...flag(form, "announce.end")} label={texts.announceEnd} />
          </>
        )}
      </div>
    </Panel>
  );
}
