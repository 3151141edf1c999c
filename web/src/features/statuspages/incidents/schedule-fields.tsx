/** When a maintenance takes place, and how it repeats. */
import { Select, Switch, TextInput } from "@mantine/core";
import { find } from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import { ZoneField } from "../../../shared/ui/zone-field";
import { repeats } from "./repeat";
import type { ScheduleValues } from "./values";

export function ScheduleFields({ form: given }: { form: Pick<Form<ScheduleValues>, "values" | "errors" | "set"> }) {
  const { incidents: texts, maintenance } = useTexts();
  // The rest of the form does not matter here.
  const form = given as Form<ScheduleValues>;
  const { repeat } = form.values;
  return (
    <>
      <FieldPair wide>
        <TextInput type="datetime-local" {...text(form, "scheduled_for")} label={texts.starts} description={texts.yourZone} />
        <TextInput type="datetime-local" {...text(form, "scheduled_until")} label={texts.ends} description={texts.yourZone} />
      </FieldPair>
      <Switch {...flag(form, "auto_start")} label={texts.autoStart} />
      <Switch {...flag(form, "auto_end")} label={texts.autoEnd} />
      <FieldPair wide>
        <Select
          name="repeat"
          label={maintenance.form.repeat}
          description={repeat === "never" ? undefined : texts.repeatHelp}
          data={repeats.map((value) => ({ value, label: texts.repeats[value] }))}
          allowDeselect={false}
          value={repeat}
          error={repeat === "custom" ? undefined : form.errors.repeat}
          onChange={(value) => form.set("repeat", find(repeats, value) ?? repeat)}
        />
        {repeat !== "never" && repeat !== "custom" && (
          <TextInput type="date" {...text(form, "repeat_until")} label={maintenance.form.until} description={maintenance.form.untilHelp} />
        )}
        {repeat === "custom" && (
          <TextInput
            {...text(form, "rrule")}
            name="repeat"
            label={maintenance.form.rrule}
            description={texts.rruleHelp}
            placeholder="FREQ=MONTHLY;BYDAY=2TU"
            autoComplete="off"
            spellCheck={false}
            error={form.errors.repeat}
          />
        )}
      </FieldPair>
      {repeat !== "never" && <ZoneField form={form} name="timezone" label={maintenance.form.zone} help={texts.zoneHelp} />}
      <TextInput {...text(form, "remind_hours")} label={texts.remind} description={texts.remindHelp} autoComplete="off" />
    </>
  );
}
