/** The part of the user's menu about teams: the current one, the others, and a new one. */
import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMe } from "../shared/api/session";
import { teamsQuery } from "../shared/api/teams";
import { useTexts } from "../shared/i18n";
import { People, Plus } from "../shared/ui/icons";
import styles from "./shell.module.css";
import { useSwitchTeam } from "./use-switch-team";

export function TeamItems({ create }: { create: () => void }) {
  const t = useTexts();
  const { groupid: current, groupname, role } = useMe();
  const { data = [] } = useQuery(teamsQuery);
  const switchTeam = useSwitchTeam();
  return (
    <>
      {data.length > 1 ? (
        <>
          <Menu.Label>{t.teams.title}</Menu.Label>
          <div className={styles.teams}>
            {data.map((team) => (
              <Menu.Item
                key={team.groupid}
                leftSection={<People />}
                rightSection={team.groupid === current ? "•" : null}
                aria-current={team.groupid === current}
                disabled={team.suspended}
                onClick={() => team.groupid !== current && void switchTeam(team)}
              >
                <TeamName name={team.name} details={team.suspended ? t.teams.suspended : t.nav.roles[team.role]} />
              </Menu.Item>
            ))}
          </div>
        </>
      ) : (
        <Menu.Label>
          <TeamName name={groupname} details={t.nav.roles[role]} />
        </Menu.Label>
      )}
      <Menu.Item leftSection={<Plus />} onClick={create}>
        {t.teams.new}
      </Menu.Item>
    </>
  );
}

function TeamName({ name, details }: { name: string; details: string }) {
  return (
    <span className={styles.team}>
      <span className={styles.cut} title={name}>
        {name}
      </span>{" "}
      <span className={styles.teamRole}>{details}</span>
    </span>
  );
}
