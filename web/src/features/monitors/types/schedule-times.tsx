/** The next times of a schedule that is being entered, in its own time zone and in the reader's. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { POST, unwrap } from "../../../shared/api/client";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { isSameTime, knownZone, readerZone } from "../../../shared/lib/zone";
import { useErrorMessage } from "../../../shared/ui/error-message";
import styles from "../edit/edit.module.css";

/** Milliseconds without a keystroke before the service is asked. */
const DEBOUNCE = 300;

function timesQuery(schedule: string, tz: string) {
  return queryOptions({
    queryKey: ["schedule-times", schedule, tz],
    queryFn: ({ signal }) => unwrap(POST("/api/v1/monitor/schedule", { body: { schedule, tz }, signal })),
    enabled: schedule !== "",
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
  });
}

export function ScheduleTimes({ schedule, tz }: { schedule: string; tz: string }) {
  const errorMessage = useErrorMessage();
  const [entered] = useDebouncedValue(schedule.trim(), DEBOUNCE);
  const [zone] = useDebouncedValue(tz.trim(), DEBOUNCE);
  const { data, error } = useQuery(timesQuery(entered, zone));
  if (schedule.trim() === "" || entered === "") return null;
  if (error) {
    return (
      <p className={styles.note} role="status">
        {errorMessage(error)}
      </p>
    );
  }
  return data ? <Times times={data.times.map((time) => Date.parse(time))} zone={data.tz} /> : null;
}

function Times({ times, zone }: { times: readonly number[]; zone: string }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const [own, mine] = [knownZone(zone), readerZone()];
  const differs = !isSameTime(times, own, mine);
  const words = (at: number, timeZone: string) =>
    new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short", timeZone }).format(at);
  if (times.length === 0) return <p className={styles.note}>{t.form.noTimes}</p>;
  return (
    <div className={styles.times} role="group" tabIndex={0} aria-label={t.form.nextTimes}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.maintenance.timesOf(zone)}</th>
            {differs && <th scope="col">{t.maintenance.yourTime(mine)}</th>}
          </tr>
        </thead>
        <tbody>
          {times.map((at) => (
            <tr key={at}>
              <td>{words(at, own)}</td>
              {differs && <td>{words(at, mine)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
