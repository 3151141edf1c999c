/** Group: up or down by a rule on the status of other monitors. */
import { MultiSelect, Switch, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { monitorsQuery } from "../data";
import type { TypeForm } from "./type-form";

interface GroupValues {
  /** IDs. */
  "group.monitors": string[];
  "group.tags": string[];
  "group.rule": string;
  "group.members_quiet": boolean;
}

export const group: TypeForm<GroupValues> = {
  defaults: { "group.monitors": [], "group.tags": [], "group.rule": "any", "group.members_quiet": false },
  valuesOf: ({ group }) => ({
    ...(group && {
      "group.monitors": group.monitors,
      "group.tags": group.tags,
      "group.rule": group.rule,
      "group.members_quiet": group.members_quiet,
    }),
  }),
  bodyOf: (values) => ({
    group: {
      monitors: values["group.monitors"],
      tags: values["group.tags"],
      rule: values["group.rule"].trim(),
      members_quiet: values["group.members_quiet"],
    },
  }),
  suggestedName: () => "",
  labels: (t) => ({
    "group.monitors": t.form.groupMonitors,
    "group.tags": t.form.groupTags,
    "group.rule": t.form.groupRule,
    "group.members_quiet": t.form.groupQuiet,
  }),
  Target,
};

function Target({ form }: { form: Form<GroupValues> }) {
  const t = useTexts();
  const { data: monitors = [] } = useQuery(monitorsQuery);
  const named = monitors.map(({ monitorid, name }) => ({ value: monitorid, label: name }));
  return (
    <>
      <MultiSelect
        name="group.monitors"
        label={t.form.groupMonitors}
        description={t.form.groupMonitorsHelp}
        data={named}
        value={form.values["group.monitors"]}
        error={form.errors["group.monitors"] ?? form.errors["group"]}
        onChange={(ids) => form.set("group.monitors", ids)}
        searchable
      />
      <TagsInput
        name="group.tags"
        label={t.form.groupTags}
        description={t.form.groupTagsHelp}
        value={form.values["group.tags"]}
        error={form.errors["group.tags"]}
        onChange={(tags) => form.set("group.tags", tags)}
      />
      <TextInput {...text(form, "group.rule")} label={t.form.groupRule} description={t.form.groupRuleHelp} autoComplete="off" />
      <Switch {...flag(form, "group.members_quiet")} label={t.form.groupQuiet} description={t.form.groupQuietHelp} />
    </>
  );
}
