/** A month with the windows as bars on its days; on a phone, a list of days. */
import { Button } from "@mantine/core";
import { useMemo } from "react";
import type { Maintenance } from "../../shared/api/maintenances";
import { useNow } from "../../shared/lib/now";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Link, useSearchParams } from "../../shared/router";
import { Back } from "../../shared/ui/icons";
import { Panel } from "../../shared/ui/page";
import styles from "./maintenance.module.css";
import { barsOf, isSameDay, monthOf, onDay, shifted, weeksOf, weekStartOf, type Bar } from "./month";

const MINUTE = 60_000;
/** How many windows a day shows; the list of the day on a phone shows all. */
const MAX_LANES = 4;

export function MonthView({ windows }: { windows: Maintenance[] }) {
  const { month: texts } = useTexts().maintenance;
  const { locale } = useLanguage();
  const now = Math.floor(useNow() / MINUTE) * MINUTE;
  const [search, setSearch] = useSearchParams();
  const today = new Date(now);
  const month = monthOf(search.get("month"), today);
  const weeks = useMemo(() => weeksOf(month, weekStartOf(locale)), [month, locale]);
  const bars = useMemo(() => weeks.map((week) => barsOf(windows, week, now)), [windows, weeks, now]);
  const show = (to: string) => setSearch(new URLSearchParams({ view: "month", month: to }), { replace: true, keepScroll: true });
  const name = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" }).format(new Date(`${month}-15T12:00`));
  const isOther = (day: Date) => monthOf(null, day) !== month;
  return (
    <Panel flush>
      <div className={styles.monthHead}>
        <h2 aria-live="polite">{name}</h2>
        <Button variant="default" px={10} aria-label={texts.previous} onClick={() => show(shifted(month, -1))}>
          <Back />
        </Button>
        <Button variant="default" onClick={() => show(monthOf(null, today))}>
          {texts.today}
        </Button>
        <Button variant="default" px={10} aria-label={texts.next} className={styles.nextMonth} onClick={() => show(shifted(month, 1))}>
          <Back />
        </Button>
      </div>
      <table className={styles.month} aria-label={texts.label(name)}>
        <thead>
          <tr>
            {weeks[0]?.map((day) => (
              <th key={day.getDay()} scope="col">
                {new Intl.DateTimeFormat(locale, { weekday: "short" }).format(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week, index) => (
            <tr key={week[0]?.getTime()}>
              {week.map((day, place) => (
                <td key={day.getTime()} data-other={isOther(day) || undefined} aria-current={isSameDay(day, today) ? "date" : undefined}>
                  <Day day={day} place={place} bars={bars[index] ?? []} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <DayList windows={windows} days={weeks.flat().filter((day) => !isOther(day))} now={now} />
    </Panel>
  );
}

function useClock() {
  const { locale } = useLanguage();
  const format = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
  return (at: number) => format.format(at);
}

/** The bars on a day, each in its line, so that one that lasts for days is continuous. */
function Day({ day, place, bars }: { day: Date; place: number; bars: readonly Bar[] }) {
  const { month: texts } = useTexts().maintenance;
  const { locale } = useLanguage();
  const clock = useClock();
  const here = bars.filter(({ first, last }) => first <= place && place <= last).sort((a, b) => a.lane - b.lane);
  const hidden = here.filter(({ lane }) => lane >= MAX_LANES).length;
  return (
    <>
      <time className={styles.date} dateTime={dateOf(day)} aria-label={new Intl.DateTimeFormat(locale, { dateStyle: "full" }).format(day)}>
        {day.getDate()}
      </time>
      {here.length > 0 && (
        <ul>
          {here
            .filter(({ lane }) => lane < MAX_LANES)
            .map((bar) => (
              <li key={`${bar.window.maintenanceid} ${bar.from}`} style={{ gridRow: bar.lane + 1 }}>
                <Link
                  to={`/maintenance/${bar.window.maintenanceid}`}
                  className={styles.bar}
                  data-status={bar.window.status}
                  data-begins={bar.first === place && !bar.before ? true : undefined}
                  data-ends={bar.last === place && !bar.after ? true : undefined}
                  title={`${clock(bar.from)} ${bar.window.name}`}
                  // One stop of the Tab key for each week is enough.
                  tabIndex={bar.first === place ? undefined : -1}
                >
                  {bar.first === place ? (
                    <>
                      {!bar.before && <span className={styles.barTime}>{clock(bar.from)} </span>}
                      {bar.window.name}
                    </>
                  ) : (
                    <span className="sr-only">
                      {bar.window.name}, {texts.continued}
                    </span>
                  )}
                </Link>
              </li>
            ))}
        </ul>
      )}
      {hidden > 0 && (
        <Link to="/maintenance" className={styles.hiddenBars}>
          {texts.more(hidden)}
        </Link>
      )}
    </>
  );
}

function dateOf(day: Date): string {
  return `${monthOf(null, day)}-${String(day.getDate()).padStart(2, "0")}`;
}

/** The days on which something happens. */
function DayList({ windows, days, now }: { windows: Maintenance[]; days: Date[]; now: number }) {
  const { month: texts, untilEnded } = useTexts().maintenance;
  const { locale } = useLanguage();
  const clock = useClock();
  const found = days.map((day) => [day, onDay(windows, day, now)] as const).filter(([, list]) => list.length > 0);
  const timeOn = (day: Date, from: number, to: number) => {
    const [begin, end] = [day.getTime(), new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime()];
    if (from <= begin && to >= end) return texts.allDay;
    return `${from <= begin ? "…" : clock(from)} – ${to === Infinity ? untilEnded : to > end ? "…" : clock(to)}`;
  };
  return (
    <ol className={styles.days}>
      {found.length === 0 && <li className={styles.quiet}>{texts.none}</li>}
      {found.map(([day, list]) => (
        <li key={day.getTime()} aria-current={isSameDay(day, new Date(now)) ? "date" : undefined}>
          <h3>
            <time dateTime={dateOf(day)}>
              {new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short" }).format(day)}
            </time>
            {isSameDay(day, new Date(now)) && <span> · {texts.today}</span>}
          </h3>
          <ul>
            {list.map(({ window, from, to }) => (
              <li key={`${window.maintenanceid} ${from}`}>
                <span className="num">{timeOn(day, from, to)}</span>
                <Link to={`/maintenance/${window.maintenanceid}`}>{window.name}</Link>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
