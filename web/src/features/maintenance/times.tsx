/** Times of windows in words, in the reader's time zone or that of the window. */
import type { Maintenance, Occurrence } from "../../shared/api/maintenances";
import { interval } from "../../shared/lib/time";
import { isSameTime, knownZone, localOf, parseLocal, readerZone } from "../../shared/lib/zone";
import { useLanguage, useTexts, type Texts } from "../../shared/i18n";
import { weekdayName } from "../../shared/ui/toggles";
import { dateText } from "./dates";
import styles from "./maintenance.module.css";
import { fromRrule, sortedDates, weekdays, type Weekday } from "./rule";

/** The year is left out if it is the current one. */
function formatter(locale: string, zone: string, withYear: boolean) {
  return new Intl.DateTimeFormat(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    ...(withYear && { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  });
}

/** `Sun, 22 Nov, 02:30–04:00`. */
export function spanText({ from, to }: Occurrence, locale: string, zone: string, t: Texts): string {
  const year = (at: string | number) => new Date(at).getFullYear();
  const format = formatter(
    locale,
    zone,
    [from, to ?? from].some((at) => year(at) !== year(Date.now())),
  );
  return to ? format.formatRange(Date.parse(from), Date.parse(to)) : `${format.format(Date.parse(from))}, ${t.maintenance.untilEnded}`;
}

/** An occurrence in the reader's time zone. */
export function When({ occurrence }: { occurrence: Occurrence }) {
  const t = useTexts();
  const { locale } = useLanguage();
  return (
    <time dateTime={occurrence.from} className="num">
      {spanText(occurrence, locale, readerZone(), t)}
    </time>
  );
}

/** Occurrences in the zone of the window and, if that differs, in that of the reader. */
export function Times({ occurrences, zone }: { occurrences: readonly Occurrence[]; zone: string }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const [own, mine] = [knownZone(zone), readerZone()];
  const times = occurrences.flatMap(({ from, to }) => [Date.parse(from), ...(to ? [Date.parse(to)] : [])]);
  const differs = !isSameTime(times, own, mine);
  return (
    <div className={styles.times} role="group" tabIndex={0} aria-label={t.maintenance.times}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.maintenance.timesOf(zone)}</th>
            {differs && <th scope="col">{t.maintenance.yourTime(mine)}</th>}
          </tr>
        </thead>
        <tbody className="num">
          {occurrences.map((occurrence) => (
            <tr key={occurrence.from}>
              <td>{spanText(occurrence, locale, own, t)}</td>
              {differs && <td>{spanText(occurrence, locale, mine, t)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How often a window happens, and for how long. */
export function ruleText(window: Maintenance, locale: string, t: Texts): string {
  const { maintenance } = t;
  const length = window.duration ? `, ${maintenance.lasts(interval(window.duration))}` : "";
  if (window.cron) return maintenance.cronRule(window.cron) + length;
  if (!window.rrule) return maintenance.once;
  const text = parseLocal(window.starts);
  const starts = Number.isNaN(text) ? localOf(Date.parse(window.starts), knownZone(window.time_zone)) : text;
  const rule = fromRrule(window.rrule, new Date(starts).toISOString().slice(0, 16));
  if (rule.repeat === "rrule") return window.rrule + length;
  const list = (words: string[]) => new Intl.ListFormat(locale, { type: "conjunction" }).format(words);
  const time = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", timeZone: "UTC" }).format(starts);
  const nameOf = (day: Weekday) => weekdayName(weekdays.indexOf(day), locale);
  const every = Number(rule.every);
  const end = rule.until === "" ? "" : `, ${maintenance.untilDate(dateText(rule.until, locale))}`;
  if (rule.repeat === "week") {
    if (rule.days.length === weekdays.length && every === 1) return maintenance.daily(time) + length + end;
    const days = weekdays.filter((day) => rule.days.includes(day)).map((day) => nameOf(day));
    return maintenance.weekly(every, list(days), time) + length + end;
  }
  const days =
    rule.monthly === "day"
      ? list(sortedDates(rule.dates).map(maintenance.theDate))
      : maintenance.theWeekday(maintenance.ordinals[rule.ordinal], nameOf(rule.weekday));
  return maintenance.monthly(every, days, time) + length + end;
}
