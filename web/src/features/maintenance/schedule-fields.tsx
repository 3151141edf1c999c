/** When a window happens: once, or by a rule that can be shown by weekday, by month, as cron or as RRULE. */
import { Button, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { useLanguage, useTexts } from "../../shared/i18n";
import { flag, text } from "../../shared/ui/form";
import { FieldPair } from "../../shared/ui/form-layout";
import { Cross } from "../../shared/ui/icons";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import { Toggles, weekdayName } from "../../shared/ui/toggles";
import { ZoneField } from "../../shared/ui/zone-field";
import { dateText } from "./dates";
import { durationField, type WindowForm } from "./form";
import styles from "./form.module.css";
import { ordinals, repeats, switchedTo, weekdays, type Lost, type Repeat, type Rule } from "./rule";
import type { Values } from "./values";

export function ScheduleFields({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const { locale } = useLanguage();
  const { repeat, open } = form.values;
  const [lost, setLost] = useState<readonly Lost[]>([]);
  const change = (to: Repeat) => {
    const { rule, lost: found } = switchedTo(to, form.values);
    for (const [field, value] of Object.entries(rule)) form.set(field as keyof Rule, value);
    setLost(found);
  };
  const starts = repeat === "once" ? texts.starts : repeat === "cron" ? texts.notBefore : texts.first;
  return (
    <Panel title={texts.when}>
      <div className={page.fields}>
        <div className={styles.choice}>
          <SegmentedControl
            label={texts.repeat}
            choices={repeats.map((each) => [each, texts.repeats[each]] as const)}
            chosen={repeat}
            choose={change}
          />
        </div>
        {lost.length > 0 && (
          <p className={styles.lost} role="status">
            {texts.lostText(new Intl.ListFormat(locale).format(lost.map((each) => texts.lost[each])))}
          </p>
        )}
        {repeat === "week" && <ByWeekday form={form} />}
        {repeat === "month" && <ByMonth form={form} />}
        {repeat === "cron" && (
          <TextInput
            {...text(form, "cron")}
            label={texts.cron}
            description={texts.cronHelp}
            placeholder="30 2 * * SUN"
            className={styles.code}
            spellCheck={false}
            autoComplete="off"
          />
        )}
        {repeat === "rrule" && (
          <TextInput
            {...text(form, "rrule")}
            label={texts.rrule}
            description={texts.rruleHelp}
            placeholder="FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"
            className={styles.code}
            spellCheck={false}
            autoComplete="off"
          />
        )}
        <FieldPair>
          <TextInput type="datetime-local" {...text(form, "starts")} label={starts} />
          {repeat === "once" ? (
            !open && (
              <TextInput
                type="datetime-local"
                {...text(form, "ends")}
                error={form.errors.ends ?? form.errors.duration}
                label={texts.ends}
              />
            )
          ) : (
            <TextInput {...durationField(form, "duration")} label={texts.duration} description={texts.durationHelp} />
          )}
        </FieldPair>
        {repeat === "once" && <Switch {...flag(form, "open")} label={texts.open} />}
        {(repeat === "week" || repeat === "month") && (
          <TextInput type="date" className={styles.short} {...text(form, "until")} label={texts.until} description={texts.untilHelp} />
        )}
        {repeat !== "once" && <Exceptions form={form} />}
        <ZoneField form={form} label={texts.zone} help={texts.zoneHelp} />
      </div>
    </Panel>
  );
}

function Interval({ form, label }: { form: WindowForm; label: string }) {
  return (
    <NumberInput
      name="every"
      className={styles.short}
      label={label}
      value={form.values.every}
      onChange={(value) => form.set("every", typeof value === "number" ? value : "")}
      min={1}
      max={999}
      allowDecimal={false}
      allowNegative={false}
    />
  );
}

/** Sets a field of the rule, and clears the error of the rule, which is that of its fields. */
function setDays<F extends "days" | "dates">(form: WindowForm, field: F, value: Values[F]) {
  form.set(field, value);
  form.set("rrule", form.values.rrule);
}

function ByWeekday({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const { locale } = useLanguage();
  return (
    <>
      <Toggles
        name="rrule"
        legend={texts.days}
        choices={weekdays.map((day, place) => [day, weekdayName(place, locale, "short"), weekdayName(place, locale)] as const)}
        chosen={form.values.days}
        choose={(days) => setDays(form, "days", days)}
        error={form.errors.rrule}
      />
      <Interval form={form} label={texts.weeks} />
    </>
  );
}

const monthDays = [...Array.from({ length: 31 }, (_, day) => day + 1), -1];

function ByMonth({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const { locale } = useLanguage();
  const { monthly, dates, ordinal, weekday } = form.values;
  const days = useMemo(() => weekdays.map((value, place) => ({ value, label: weekdayName(place, locale) })), [locale]);
  return (
    <>
      <div className={styles.choice}>
        <SegmentedControl
          label={texts.monthly}
          choices={(["day", "weekday"] as const).map((each) => [each, texts.monthlyBy[each]] as const)}
          chosen={monthly}
          choose={(each) => form.set("monthly", each)}
        />
      </div>
      {monthly === "day" ? (
        <Toggles
          name="rrule"
          legend={texts.dates}
          choices={monthDays.map((day) =>
            day < 0 ? ([day, texts.lastDay, texts.lastDayLabel] as const) : ([day, String(day), texts.dayLabel(day)] as const),
          )}
          chosen={dates}
          choose={(chosen) => setDays(form, "dates", chosen)}
          error={form.errors.rrule}
        />
      ) : (
        <FieldPair>
          <Select
            name="ordinal"
            label={texts.ordinal}
            data={ordinals.map((value) => ({ value, label: texts.ordinals[value] }))}
            value={ordinal}
            error={form.errors.rrule}
            allowDeselect={false}
            onChange={(value) => form.set("ordinal", ordinals.find((each) => each === value) ?? ordinal)}
          />
          <Select
            name="weekday"
            label={texts.weekday}
            data={days}
            value={weekday}
            allowDeselect={false}
            onChange={(value) => form.set("weekday", weekdays.find((each) => each === value) ?? weekday)}
          />
        </FieldPair>
      )}
      <Interval form={form} label={texts.months} />
    </>
  );
}

/** Dates on which it does not happen. */
function Exceptions({ form }: { form: WindowForm }) {
  const { form: texts } = useTexts().maintenance;
  const { locale } = useLanguage();
  const [date, setDate] = useState("");
  const { except } = form.values;
  const add = () => {
    if (date !== "" && !except.includes(date)) form.set("except", [...except, date].sort());
    setDate("");
  };
  return (
    <div className={styles.exceptions}>
      <div>
        <TextInput
          type="date"
          name="except"
          label={texts.except}
          description={texts.exceptHelp}
          value={date}
          error={form.errors.except}
          onChange={({ currentTarget }) => setDate(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <Button variant="default" disabled={date === ""} onClick={add}>
          {texts.exceptAdd}
        </Button>
      </div>
      {except.length > 0 && (
        <ul>
          {except.map((each) => (
            <li key={each}>
              {dateText(each, locale)}
              <button
                type="button"
                aria-label={texts.exceptRemove(dateText(each, locale))}
                onClick={() =>
                  form.set(
                    "except",
                    except.filter((other) => other !== each),
                  )
                }
              >
                <Cross size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
