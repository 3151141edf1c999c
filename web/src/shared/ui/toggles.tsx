/** Several small choices side by side; a checkbox each. */
import { days } from "../api/alerting-sets";
import type { Day } from "../api/closed-sets";
import { useLanguage } from "../i18n";
import styles from "./fields.module.css";

interface Props<T> {
  legend: string;
  /** The field whose error this is. */
  name: string;
  choices: readonly (readonly [T, text: string, label: string])[];
  chosen: readonly T[];
  choose: (chosen: T[]) => void;
  error?: string | undefined;
}

export function Toggles<T extends string | number>({ legend, name, choices, chosen, choose, error }: Props<T>) {
  return (
    <fieldset className={styles.toggles}>
      <legend>{legend}</legend>
      <div>
        {choices.map(([value, word, label]) => (
          <label key={value} data-chosen={chosen.includes(value) || undefined}>
            <input
              type="checkbox"
              name={name}
              aria-label={label}
              aria-invalid={error !== undefined}
              checked={chosen.includes(value)}
              onChange={({ currentTarget }) => choose(currentTarget.checked ? [...chosen, value] : chosen.filter((one) => one !== value))}
            />
            <span aria-hidden="true">{word}</span>
          </label>
        ))}
      </div>
      {error !== undefined && <p className={styles.error}>{error}</p>}
    </fieldset>
  );
}

/** The name of a weekday, from 0 for Monday. */
export function weekdayName(place: number, locale: string, weekday: "long" | "short" = "long"): string {
  // 5 January 2026 is a Monday.
  return new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" }).format(Date.UTC(2026, 0, 5 + place));
}

/** The days of the week as choices. */
export function useDayChoices(): (readonly [Day, string, string])[] {
  const { locale } = useLanguage();
  return days.map((day, place) => [day, weekdayName(place, locale, "short"), weekdayName(place, locale)] as const);
}
