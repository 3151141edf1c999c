/** A week of a schedule as rows of bars: the layers, the overrides, and who is on call in the end. */
import type { Override, Schedule } from "../../../shared/api/schedules";
import { useMemberName } from "../../../shared/api/team";
import { useNow } from "../../../shared/lib/now";
import { knownZone } from "../../../shared/lib/zone";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { spanText } from "./spans";
import { shiftsOf, turnsOf, type Span } from "./shifts";
import styles from "./chart.module.css";
import { daysOf, placeOf, rangeOf } from "./week";

interface Bar extends Span {
  /** Null: nobody is on call. */
  userid: string | null;
}

interface Props {
  schedule: Pick<Schedule, "name" | "time_zone" | "layers">;
  overrides?: readonly Override[];
  /** Who is on call in the end; computed from the layers if the schedule is not saved. */
  shifts?: readonly Bar[] | undefined;
  monday: string;
}

export function WeekChart({ schedule: { name, time_zone, layers }, overrides = [], shifts, monday }: Props) {
  const { oncall } = useTexts();
  const { locale } = useLanguage();
  const now = useNow();
  const zone = knownZone(time_zone);
  const range = rangeOf(monday, zone);
  const days = daysOf(monday, zone);
  const weekday = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", timeZone: zone });
  const people = peopleOf(layers, overrides);
  const taken = overrides.map(({ userid, starts, ends }) => clipped({ userid, from: Date.parse(starts), to: Date.parse(ends) }, range));
  const final = (shifts ?? shiftsOf(layers, zone, range)).map((shift) => clipped(shift, range));
  const isNow = range.from <= now && now < range.to;
  return (
    // What it shows is also in the list of shifts.
    <div className={styles.chart} role="img" aria-label={oncall.chartOf(name)}>
      <div className={styles.head}>
        {days.slice(0, 7).map((day, place) => (
          <span key={day} style={placeOf({ from: day, to: days[place + 1] ?? range.to }, range)}>
            {weekday.format(day + 12 * 3_600_000)}
          </span>
        ))}
      </div>
      {layers.map((layer, place) => (
        <Row
          key={place}
          label={layer.name || oncall.layer(place + 1)}
          bars={turnsOf(layer, zone, range)}
          {...{ range, days, people, zone }}
        />
      ))}
      {overrides.length > 0 && <Row label={oncall.overrides} bars={taken} {...{ range, days, people, zone }} />}
      <Row label={oncall.result} bars={final} strong {...{ range, days, people, zone }} now={isNow ? now : undefined} />
    </div>
  );
}

function clipped<B extends Span>(bar: B, range: Span): B {
  return { ...bar, from: Math.max(bar.from, range.from), to: Math.min(bar.to, range.to) };
}

/** The people of a schedule, in the order of their colors. */
function peopleOf(layers: Schedule["layers"], overrides: readonly Override[]): string[] {
  return [...new Set([...layers.flatMap(({ users }) => users), ...overrides.map(({ userid }) => userid)])];
}

/** As many colors as there are for people. */
const COLORS = 6;

interface RowProps {
  label: string;
  bars: readonly Bar[];
  range: Span;
  days: readonly number[];
  people: readonly string[];
  zone: string;
  strong?: boolean;
  now?: number | undefined;
}

function Row({ label, bars, range, days, people, zone, strong = false, now }: RowProps) {
  const t = useTexts();
  const { locale } = useLanguage();
  const nameOf = useMemberName();
  return (
    <div className={styles.row} data-strong={strong || undefined}>
      <span className={styles.label}>{label}</span>
      <div className={styles.lane}>
        {days.slice(1, 7).map((day) => (
          <i key={day} style={{ left: placeOf({ from: day, to: day }, range).left }} />
        ))}
        {bars.map((bar) => (
          <span
            key={`${bar.from} ${bar.userid}`}
            className={styles.bar}
            style={placeOf(bar, range)}
            data-color={bar.userid === null ? "gap" : people.indexOf(bar.userid) % COLORS}
            title={`${spanText(bar, locale, zone)} · ${bar.userid === null ? t.oncall.nobody : nameOf(bar.userid)}`}
          >
            {bar.userid === null ? t.oncall.gap : nameOf(bar.userid)}
          </span>
        ))}
        {now !== undefined && <b className={styles.now} style={{ left: placeOf({ from: now, to: now }, range).left }} />}
      </div>
    </div>
  );
}
