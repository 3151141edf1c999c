/** A warning on the dashboard about regions without a probe. */
import { useQuery } from "@tanstack/react-query";
import { useFirstTexts } from "../../../shared/i18n";
import { missing, regionsQuery } from "../regions";
import styles from "./list.module.css";

export function RegionWarning() {
  const t = useFirstTexts();
  const { data } = useQuery(regionsQuery);
  const gone = missing(data ?? []);
  if (gone.length === 0) return null;
  return (
    <div className={styles.notice} role="status">
      {gone.map(({ region, monitors, problem }) => (
        <p key={region}>{t.monitors.regionMissing(region, monitors, problem ?? "")}</p>
      ))}
    </div>
  );
}
