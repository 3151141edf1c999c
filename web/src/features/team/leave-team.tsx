/** Leaving the team, and deleting it. Afterwards, this tab shows another team of the user. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { showTeam, useMe } from "../../shared/api/session";
import { teamsQuery } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { useNavigate } from "../../shared/router";
import { Confirm } from "../../shared/ui/confirm";
import { Rows } from "../../shared/ui/form-layout";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";

export function LeaveTeam() {
  const { teams } = useTexts();
  const { groupname } = useMe();
  const only = useIsOnlyTeam();
  const showOther = useShowOtherTeam();
  const [confirming, setConfirming] = useState(false);
  return (
    <Panel id="leave-team" title={teams.leave} lead={teams.leaveLead}>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {teams.leave}
      </Button>
      {confirming && (
        <Confirm
          title={teams.leaveTitle(groupname)}
          action={teams.leave}
          close={() => setConfirming(false)}
          run={async () => {
            await unwrap(POST("/api/v1/team/leave"));
            await showOther(teams.left(groupname));
          }}
        >
          {only ? `${teams.leaveHelp} ${teams.leaveOnly}` : teams.leaveHelp}
        </Confirm>
      )}
    </Panel>
  );
}

export function DeleteTeam() {
  const { teams } = useTexts();
  const { groupname } = useMe();
  const only = useIsOnlyTeam();
  const showOther = useShowOtherTeam();
  const [confirming, setConfirming] = useState(false);
  return (
    <Panel id="delete-team" title={teams.delete} lead={teams.deleteLead}>
      <Button variant="light" color="red" onClick={() => setConfirming(true)}>
        {teams.delete}
      </Button>
      {confirming && (
        <Confirm
          title={teams.deleteTitle(groupname)}
          action={teams.delete}
          typed={groupname}
          close={() => setConfirming(false)}
          run={async () => {
            await unwrap(POST("/api/v1/team/remove", { body: { name: groupname } }));
            await showOther(teams.deleted(groupname));
          }}
        >
          <Rows>
            <p>{teams.deleteHelp}</p>
            {only && <p>{teams.deleteOnly}</p>}
          </Rows>
        </Confirm>
      )}
    </Panel>
  );
}

function useIsOnlyTeam(): boolean {
  return useQuery(teamsQuery).data?.length === 1;
}

function useShowOtherTeam(): (message: string) => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (message) => {
    await showTeam(client, null);
    await navigate("/");
    showToast(message);
  };
}
