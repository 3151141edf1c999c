/** The fields for the tags or the monitors that limit a member or an API key. */
import { MultiSelect, TagsInput } from "@mantine/core";
import { useTexts } from "../i18n";
import styles from "./fields.module.css";
import type { Form } from "./form";
import type { FilterValues } from "./monitor-filter";
import { SegmentedControl } from "./segmented-control";
import { MAX_OPTIONS, useMonitorOptions } from "./selector-fields";

const MAX_TAGS = 20;
const MAX_MONITORS = 100;

export function MonitorFilterField({ form }: { form: Form<FilterValues> }) {
  const { monitorFilter: texts } = useTexts();
  return (
    <>
      <div className={styles.choice}>
        <SegmentedControl
          label={texts.limit}
          choices={[
            ["tags", texts.byTag],
            ["monitors", texts.byName],
          ]}
          chosen={form.values.limitBy}
          choose={(limitBy) => form.set("limitBy", limitBy)}
        />
      </div>
      {form.values.limitBy === "monitors" ? (
        <NamedMonitors form={form} />
      ) : (
        <TagsInput
          name="tags"
          label={texts.tags}
          description={texts.tagsHelp}
          error={form.errors["tags"]}
          maxTags={MAX_TAGS}
          value={form.values.tags}
          onChange={(tags) => form.set("tags", tags)}
        />
      )}
    </>
  );
}

function NamedMonitors({ form }: { form: Form<FilterValues> }) {
  const { monitorFilter: texts } = useTexts();
  const { monitors } = form.values;
  return (
    <MultiSelect
      name="monitors"
      label={texts.named}
      description={texts.namedHelp}
      error={form.errors["monitors"]}
      data={useMonitorOptions(monitors)}
      limit={MAX_OPTIONS}
      maxValues={MAX_MONITORS}
      searchable
      hidePickedOptions
      value={monitors}
      onChange={(value) => form.set("monitors", value)}
    />
  );
}
