/** The fields for which messages a notifier gets, and when. They are rarely used, so they are collapsed. */
import { Checkbox, NumberInput, Select, Switch } from "@mantine/core";
import { useState } from "react";
import { severities } from "../../shared/api/alerting-sets";
import { find, type EventType } from "../../shared/api/closed-sets";
import { useTexts } from "../../shared/i18n";
import type { Form } from "../../shared/ui/form";
import { FieldPair } from "../../shared/ui/form-layout";
import { HoursField } from "../../shared/ui/hours-field";
import { ZoneField } from "../../shared/ui/zone-field";
import page from "../../shared/ui/form-page.module.css";
import styles from "./notifiers.module.css";
import { selectable, suggested, type MessageRules } from "./message-rules";

/** `combines`: whether several messages can be sent as one. */
export function MessageRulesFields({ form, combines }: { form: Form<MessageRules>; combines: boolean }) {
  const t = useTexts();
  const { messageRules: texts, alerts } = t;
  const { values, errors } = form;
  const [open, setOpen] = useState(false);
  const wrong = Object.keys(errors).some((field) => errors[field] !== undefined && /^(quiet|events|min_severity|group_wait)/.test(field));
  const hours = values["quiet.hours"];
  return (
    <details className={page.advanced} open={open || wrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.title}</summary>
      <div className={styles.fields}>
        <Select
          name="min_severity"
          label={texts.minSeverity}
          description={texts.minSeverityHelp}
          data={severities.map((value) => ({ value, label: t.contacts.atLeast[value] }))}
          allowDeselect={false}
          value={values.min_severity}
          error={errors.min_severity}
          onChange={(word) => form.set("min_severity", find(severities, word) ?? values.min_severity)}
        />
        <Events form={form} />
        {combines && (
          <NumberInput
            name="group_wait"
            label={texts.groupWait}
            description={texts.groupWaitHelp}
            suffix=" s"
            min={0}
            max={300}
            allowDecimal={false}
            value={values.group_wait}
            error={errors.group_wait}
            onChange={(seconds) => form.set("group_wait", seconds)}
          />
        )}
        <HoursField
          legend={texts.quiet}
          help={texts.quietHelp}
          name="quiet.hours"
          hours={hours}
          errors={errors}
          change={(changed) => form.set("quiet.hours", changed)}
        />
        {hours.length > 0 && (
          <>
            <ZoneField
              form={{
                ...form,
                values: { time_zone: values["quiet.time_zone"] },
                set: (_, zone) => form.set("quiet.time_zone", zone),
              }}
              name="quiet.time_zone"
              label={t.maintenance.form.zone}
              help={t.hours.zoneHelp}
            />
            <FieldPair>
              <Select
                name="quiet.except"
                label={texts.except}
                description={texts.exceptHelp}
                data={severities.map((value) => ({
                  value,
                  label: value === "critical" ? alerts.severities[value] : t.contacts.atLeast[value],
                }))}
                allowDeselect={false}
                value={values["quiet.except"]}
                error={errors["quiet.except"]}
                onChange={(word) => form.set("quiet.except", find(severities, word) ?? "critical")}
              />
              <Select
                name="quiet.then"
                label={texts.then}
                description={texts.thenHelp[values["quiet.then"]]}
                data={(["hold", "drop"] as const).map((value) => ({ value, label: texts.thens[value] }))}
                allowDeselect={false}
                value={values["quiet.then"]}
                error={errors["quiet.then"]}
                onChange={(word) => form.set("quiet.then", word === "drop" ? "drop" : "hold")}
              />
            </FieldPair>
          </>
        )}
      </div>
    </details>
  );
}

function Events({ form }: { form: Form<MessageRules> }) {
  const { messageRules: texts } = useTexts();
  const { events } = form.values;
  if (events === null) {
    return (
      <Switch
        label={texts.chooseSwitch}
        description={texts.chooseSwitchHelp}
        checked={false}
        onChange={() => form.set("events", [...suggested])}
      />
    );
  }
  return (
    <Checkbox.Group
      label={texts.events}
      description={texts.eventsHelp}
      error={form.errors.events}
      value={events}
      onChange={(chosen) => form.set("events", chosen as EventType[])}
    >
      <div className={styles.events}>
        {selectable.map((event) => (
          <Checkbox key={event} name="events" value={event} label={texts.eventNames[event]} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
