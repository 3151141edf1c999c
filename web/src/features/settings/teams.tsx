/** The user's teams, with the role in each. The menu of the user switches between them. */
import { useQuery } from "@tanstack/react-query";
import { useMe } from "../../shared/api/session";
import { teamsQuery } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import styles from "./settings.module.css";

export function Teams() {
  const t = useTexts();
  const { groupid: current } = useMe();
  const { data, error, refetch } = useQuery(teamsQuery);
  return (
    <Panel id="teams" title={t.teams.title} lead={t.settings.teamsLead}>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <ul className={styles.rows}>
          {data.map(({ groupid, name, role, suspended }) => (
            <li key={groupid}>
              <div className={styles.words}>
                <strong>{name}</strong>
                <span className={styles.quiet}>{t.nav.roles[role]}</span>
              </div>
              {groupid === current && <Badge tone="accent">{t.settings.thisTeam}</Badge>}
              {suspended && <Badge tone="wait">{t.teams.suspended}</Badge>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
