/** Fields that select monitors: all of them, or some by name or tag. */
import { MultiSelect, TagsInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useIsLimited } from "../api/limited";
import { monitorsQuery, type MonitorRow } from "../api/monitors";
import type { Selector } from "../lib/selector";
import { useTexts } from "../i18n";
import type { Form } from "./form";
import styles from "./fields.module.css";
import { SegmentedControl } from "./segmented-control";

/** How many monitors the list offers at once; the others are found by name. */
export const MAX_OPTIONS = 100;

/** The monitors of the team as options, or those of a type; those that were deleted are shown by their ids. */
export function useMonitorOptions(chosen: readonly string[], only?: MonitorRow["type"]) {
  const { data } = useQuery(monitorsQuery);
  return useMemo(() => {
    const known = (data ?? [])
      .filter(({ type }) => only === undefined || type === only)
      .map(({ monitorid, name }) => ({ value: monitorid, label: name }));
    const deleted = chosen.filter((id) => !known.some(({ value }) => value === id));
    return [...known, ...deleted.map((id) => ({ value: id, label: id }))].sort((a, b) => a.label.localeCompare(b.label));
  }, [data, chosen, only]);
}

export function SelectorFields<V extends Selector>({ form, label }: { form: Form<V>; label: string }) {
  const { form: texts } = useTexts().maintenance;
  const fields = form as unknown as Form<Selector>;
  const limited = useIsLimited();
  const { data } = useQuery(monitorsQuery);
  const { everything, monitors, groups, tags, all_tags } = fields.values;
  const options = useMonitorOptions(monitors);
  const groupOptions = useMonitorOptions(groups, "group");
  const knownTags = useMemo(() => [...new Set((data ?? []).flatMap((monitor) => monitor.tags))].sort(), [data]);
  return (
    <>
      {/* Those who are limited to some monitors name them. */}
      {!limited && (
        <div className={styles.choice}>
          <SegmentedControl
            label={label}
            choices={[
              ["some", texts.some],
              ["all", texts.everything],
            ]}
            chosen={everything ? "all" : "some"}
            choose={(which) => {
              fields.set("everything", which === "all");
              // Its error is that nothing is selected.
              fields.set("monitors", monitors);
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
          error={fields.errors.monitors}
          onChange={(value) => fields.set("monitors", value)}
        />
      )}
      {!everything && !limited && (
        <>
          {groupOptions.length > 0 && (
            <MultiSelect
              name="groups"
              label={texts.groups}
              description={texts.groupsHelp}
              data={groupOptions}
              limit={MAX_OPTIONS}
              searchable
              hidePickedOptions
              value={groups}
              error={fields.errors.groups}
              onChange={(value) => fields.set("groups", value)}
            />
          )}
          <TagsInput
            name="tags"
            label={texts.tags}
            description={texts.tagsHelp}
            data={knownTags}
            splitChars={[","]}
            value={tags}
            error={fields.errors.tags}
            onChange={(value) => fields.set("tags", value)}
          />
          <TagsInput
            name="all_tags"
            label={texts.allTags}
            data={knownTags}
            splitChars={[","]}
            value={all_tags}
            error={fields.errors.all_tags}
            onChange={(value) => fields.set("all_tags", value)}
          />
        </>
      )}
    </>
  );
}
