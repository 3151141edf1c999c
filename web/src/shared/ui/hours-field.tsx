/** Hours of the week: quiet hours, the hours of an on-call layer or of a routing rule. */
import { Button, TextInput } from "@mantine/core";
import type { components } from "../api/schema";
import { useTexts } from "../i18n";
import styles from "./fields.module.css";
import { Plus } from "./icons";
import { Toggles, useDayChoices } from "./toggles";

export type Hours = components["schemas"]["Hours"];

/** The most spans that the service accepts. */
const MAX_SPANS = 14;
const NIGHT: Hours = { days: [], from: "22:00", to: "06:00" };

interface Props {
  legend: string;
  help: string;
  /** The field's name in errors: those of the first span are at `hours.0.from`. */
  name: string;
  hours: readonly Hours[];
  errors: Partial<Record<string, string>>;
  change: (hours: Hours[]) => void;
}

export function HoursField({ legend, help, name, hours, errors, change }: Props) {
  const { hours: texts } = useTexts();
  const choices = useDayChoices();
  const set = (place: number, part: Partial<Hours>) => change(hours.map((one, index) => (index === place ? { ...one, ...part } : one)));
  return (
    <fieldset className={styles.hours}>
      <legend>{legend}</legend>
      <p className={styles.help}>{help}</p>
      {hours.map((span, place) => (
        <div key={place} className={styles.span} role="group" aria-label={texts.span(place + 1)}>
          <Toggles
            legend={texts.days}
            name={`${name}.${place}.days`}
            choices={choices}
            chosen={span.days}
            choose={(days) => set(place, { days })}
            error={errors[`${name}.${place}.days`]}
          />
          <div className={styles.times}>
            <TextInput
              type="time"
              name={`${name}.${place}.from`}
              label={texts.from}
              value={span.from}
              error={errors[`${name}.${place}.from`]}
              onChange={({ currentTarget }) => set(place, { from: currentTarget.value })}
            />
            <TextInput
              type="time"
              name={`${name}.${place}.to`}
              label={texts.to}
              // A field for a time has no 24:00.
              value={span.to === "24:00" ? "00:00" : span.to}
              error={errors[`${name}.${place}.to`]}
              onChange={({ currentTarget }) => set(place, { to: currentTarget.value })}
            />
            <Button
              variant="subtle"
              color="red"
              aria-label={texts.remove(place + 1)}
              onClick={() => change(hours.filter((_, index) => index !== place))}
            >
              {texts.removeWord}
            </Button>
          </div>
        </div>
      ))}
      {errors[name] !== undefined && <p className={styles.error}>{errors[name]}</p>}
      {hours.length < MAX_SPANS && (
        <div>
          <Button variant="default" size="xs" leftSection={<Plus />} onClick={() => change([...hours, NIGHT])}>
            {texts.add}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
