/** The effective settings with their sources. They are changed in the settings file or the environment. */
import { useQuery } from "@tanstack/react-query";
import { useTexts } from "../../shared/i18n";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import styles from "./admin.module.css";
import { settingsQuery } from "./data";

export function Settings() {
  const { admin } = useTexts();
  const { data, error, refetch } = useQuery(settingsQuery);
  return (
    <Panel title={admin.sections.settings} lead={admin.settingsLead}>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <dl className={styles.settings}>
          {data.map(({ key, value, source, origin }) => (
            <div key={key} data-default={source === "default" || undefined}>
              <dt>{key}</dt>
              <dd>
                <code>{value}</code>
                <span className={styles.quiet}>
                  {admin.sources[source]}
                  {origin !== "" && ` (${origin})`}
                </span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Panel>
  );
}
