/** The fields of a window: its name, what it covers, and what happens meanwhile. */
import { MultiSelect, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { monitorsQuery } from "../../shared/api/monitors";
import { notifiersQuery } from "../../shared/api/notifiers";
import { formatDuration, parseDuration } from "../../shared/lib/duration";
import { useTexts } from "../../shared/i18n";
import { flag, text, type Form } from "../../shared/ui/form";
import { RequiredField } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import styles from "./form.module.css";
import { useIsLimited } from "../../shared/api/limited";
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

/** How many monitors the list offers at once; the others are found by name. */
const MAX_OPTIONS = 100;

export function Selection({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const limited = useIsLimited();
  const { data } = useQuery(monitorsQuery);
  const { everything, monitors, tags, all_tags } = form.values;
  const options = useMemo(() => {
    const known = (data ?? []).map(({ monitorid, name }) => ({ value: monitorid, label: name }));
    const deleted = monitors.filter((id) => !known.some(({ value }) => value === id));
    return [...known, ...deleted.map((id) => ({ value: id, label: id }))].sort((a, b) => a.label.localeCompare(b.label));
  }, [data, monitors]);
  const knownTags = useMemo(() => [...new Set((data ?? []).flatMap((monitor) => monitor.tags))].sort(), [data]);
  return (
    <Panel title={texts.what}>
      <div className={page.fields}>
        {/* Those who are limited to some monitors name them. */}
        {!limited && (
          <div className={styles.choice}>
            <SegmentedControl
              label={texts.what}
              choices={[
                ["some", texts.some],
                ["all", texts.everything],
              ]}
              chosen={everything ? "all" : "some"}
              choose={(which) => {
                form.set("everything", which === "all");
                // Its error is that nothing is selected.
                form.set("monitors", monitors);
              }}
            />
          </div>
        )}
        {!everything && (
          <MultiSelect
            name="monitors"
            label={texts.monitors}
            description={texts.monitorsHelp}
            data={options}
            limit={MAX_OPTIONS}
            searchable
            hidePickedOptions
            value={monitors}
            error={form.errors.monitors}
            onChange={(value) => form.set("monitors", value)}
          />
        )}
        {!everything && !limited && (
          <>
            <TagsInput
              name="tags"
              label={texts.tags}
              description={texts.tagsHelp}
              data={knownTags}
              splitChars={[","]}
              value={tags}
              error={form.errors.tags}
              onChange={(value) => form.set("tags", value)}
            />
            <TagsInput
              name="all_tags"
              label={texts.allTags}
              data={knownTags}
              splitChars={[","]}
              value={all_tags}
              error={form.errors.all_tags}
              onChange={(value) => form.set("all_tags", value)}
            />
          </>
        )}
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
