/** What the window in the form would do: its next times and the monitors that it covers. Nothing is saved. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { POST, unwrap } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import { MAINTENANCE, type SaveMaintenance } from "../../shared/api/maintenances";
import { monitorsQuery } from "../../shared/api/monitors";
import { isSelected, selectorBody } from "../../shared/lib/selector";
import { useNow } from "../../shared/lib/now";
import { useTexts } from "../../shared/i18n";
import { translate } from "../../shared/i18n/service";
import { useErrorMessage } from "../../shared/ui/error-message";
import { Panel } from "../../shared/ui/page";
import type { WindowForm } from "./form";
import styles from "./form.module.css";
import { Times } from "./times";
import { bodyOf, check, isPast, type Values } from "./values";

/** Long enough that typing does not send a request for every character. */
const DEBOUNCE = 350;
const SHOWN_TIMES = 5;
const SHOWN_MONITORS = 8;

function triedQuery(body: SaveMaintenance) {
  return queryOptions({
    queryKey: [...MAINTENANCE, "try", body],
    queryFn: ({ signal }) => unwrap(POST("/api/v1/maintenance/try", { body, signal })),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
  });
}

/** The fields that times and monitors depend on; a name that is still missing does not matter. */
function triedOf(values: Values, id: string | undefined, instead: string | undefined): SaveMaintenance {
  const { starts, time_zone, ends, duration, rrule, cron, except, counts, dependents } = bodyOf(values);
  const selection = isSelected(values) ? selectorBody(values) : instead === undefined ? { everything: true } : { monitors: [instead] };
  const schedule = { starts, time_zone, rrule, cron, except, ...(ends === undefined ? { duration } : { ends }) };
  return { ...(id !== undefined && { maintenanceid: id }), name: "–", counts, dependents, ...selection, ...schedule };
}

export function Preview({ form, id }: { form: WindowForm; id: string | undefined }) {
  const t = useTexts();
  const { form: texts, covers, andMore } = t.maintenance;
  const errorMessage = useErrorMessage();
  const now = useNow();
  const { data: monitors } = useQuery(monitorsQuery);
  const [values] = useDebouncedValue(form.values, DEBOUNCE);
  // While nothing is selected, the times are those with any monitor.
  const body = triedOf(values, id, monitors?.[0]?.monitorid);
  const selected = isSelected(values);
  const missing = Object.entries(check(values, t)).filter(([field]) => field !== "name" && field !== "monitors");
  const isComplete = missing.length === 0 && (selected || monitors !== undefined);
  const { data, error } = useQuery({ ...triedQuery(body), enabled: isComplete });
  const problems = isComplete ? problemsOf(error, t, errorMessage) : missing.map(([, problem]) => problem);
  return (
    <Panel title={texts.preview} lead={texts.previewLead}>
      <div className={styles.preview}>
        {problems.length > 0 ? (
          <div className={styles.problems} role="status">
            <p>{texts.invalid}</p>
            <ul>
              {problems.map((problem) => (
                <li key={problem}>{problem}</li>
              ))}
            </ul>
          </div>
        ) : (
          data && (
            <>
              {isPast(values, now) && <p className={styles.lost}>{texts.past}</p>}
              <Times occurrences={data.occurrences.slice(0, SHOWN_TIMES)} zone={values.time_zone} />
            </>
          )
        )}
        {!selected && <p>{texts.chooseMonitors}</p>}
        {selected && data && problems.length === 0 && (
          <>
            <p className={styles.count} role="status">
              {covers(data.monitors_covered)}
            </p>
            <ul className={styles.names}>
              {data.monitors.slice(0, SHOWN_MONITORS).map(({ monitorid, name }) => (
                <li key={monitorid}>{name}</li>
              ))}
              {data.monitors_covered > SHOWN_MONITORS && <li>{andMore(data.monitors_covered - SHOWN_MONITORS)}</li>}
            </ul>
          </>
        )}
      </div>
    </Panel>
  );
}

/** What the service says about the fields, or about the request as a whole. */
function problemsOf(error: Error | null, t: ReturnType<typeof useTexts>, errorMessage: (error: unknown) => string): string[] {
  if (!error) return [];
  const fields = error instanceof ApiError ? Object.values(error.fields) : [];
  return fields.length > 0 ? fields.flatMap((text) => (text ? [translate(text, t.service)] : [])) : [errorMessage(error)];
}
