/** All teams: how much each has, and suspending, deleting or giving it an owner. */
import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { Pause, People, Play, Trash } from "../../shared/ui/icons";
import { ListRow } from "../../shared/ui/list-row";
import { Ago } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import styles from "./admin.module.css";
import { deleteTeam, suspendTeam, teamsQuery, type Team } from "./data";
import { OwnerDialog } from "./owner-dialog";
import { SearchList } from "./search-list";

type Open = { what: "suspend" | "resume" | "owner" | "delete"; team: Team } | null;

export function Teams() {
  const { admin } = useTexts();
  const [open, setOpen] = useState<Open>(null);
  return (
    <>
      <SearchList<Team> search={admin.searchTeams} query={teamsQuery}>
        {(teams) => (
          <ul className={styles.rows}>
            {teams.map((team) => (
              <Row key={team.groupid} team={team} open={(what) => setOpen({ what, team })} />
            ))}
          </ul>
        )}
      </SearchList>
      <Dialogs open={open} close={() => setOpen(null)} />
    </>
  );
}

function Row({ team, open }: { team: Team; open: (what: "suspend" | "resume" | "owner" | "delete") => void }) {
  const { admin } = useTexts();
  const { locale } = useLanguage();
  const { name, members, monitors, plan, last_seen, suspended, has_owner } = team;
  return (
    <ListRow
      name={name}
      face={<People />}
      badges={
        <>
          {suspended && <Badge tone="wait">{admin.suspended}</Badge>}
          {!has_owner && <Badge tone="down">{admin.noOwner}</Badge>}
        </>
      }
      menu={
        <>
          {suspended ? (
            <Menu.Item leftSection={<Play />} onClick={() => open("resume")}>
              {admin.resume}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<Pause />} onClick={() => open("suspend")}>
              {admin.suspend}
            </Menu.Item>
          )}
          {!has_owner && (
            <Menu.Item leftSection={<People />} onClick={() => open("owner")}>
              {admin.appoint}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Trash />} color="red" onClick={() => open("delete")}>
            {admin.deleteTeam}
          </Menu.Item>
        </>
      }
    >
      {admin.has(members.toLocaleString(locale), monitors.toLocaleString(locale), plan ?? null)}, {admin.lastSeen} <Ago at={last_seen} />
    </ListRow>
  );
}

function Dialogs({ open, close }: { open: Open; close: () => void }) {
  const { admin } = useTexts();
  const client = useQueryClient();
  if (!open) return null;
  const { what, team } = open;
  switch (what) {
    case "suspend":
      return (
        <Confirm title={admin.suspendTitle(team.name)} action={admin.suspend} close={close} run={() => suspendTeam(client, team, true)}>
          {admin.suspendTeamHelp}
        </Confirm>
      );
    case "resume":
      return (
        <Confirm
          title={admin.resumeTitle(team.name)}
          action={admin.resume}
          color="blue"
          close={close}
          run={() => suspendTeam(client, team, false)}
        >
          {admin.resumeTeamHelp}
        </Confirm>
      );
    case "owner":
      return <OwnerDialog team={team} close={close} />;
    case "delete":
      return (
        <Confirm
          title={admin.deleteTitle(team.name)}
          action={admin.deleteTeam}
          typed={team.name}
          close={close}
          run={async () => {
            await deleteTeam(client, team);
            showToast(admin.deleted(team.name));
          }}
        >
          {admin.deleteTeamHelp(team.members, team.monitors)}
        </Confirm>
      );
  }
}
