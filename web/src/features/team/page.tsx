/** The team: its name, its members and, for those who manage them, invitations, service accounts and API keys. */
import { Button } from "@mantine/core";
import { Suspense, useState } from "react";
import { useMe } from "../../shared/api/session";
import { useTeam } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { Page, Panel } from "../../shared/ui/page";
import { Invitations } from "./invitations";
import { DeleteTeam, LeaveTeam } from "./leave-team";
import { Members } from "./members";
import { PingKeyPanel } from "./ping-key";
import { Policies } from "./policies";
import { ServiceAccounts } from "./service-accounts";
import { TeamDialog } from "./team-dialog";
import { TeamKeys } from "./team-keys";

export function Component() {
  const t = useTexts();
  const { groupname, role } = useMe();
  return (
    <Page title={groupname} lead={t.teams.yourRole(t.team.roles[role])} narrow actions={<Edit />}>
      <Members />
      <May do="people">
        <Suspense fallback={<Loading />}>
          <Invitations />
          <ServiceAccounts />
          <TeamKeys />
        </Suspense>
      </May>
      <May do="edit">
        <PingKeyPanel />
      </May>
      <May do="audit">
        <Panel
          title={t.audit.title}
          lead={t.audit.lead}
          actions={
            <Button component={Link} to="/team/audit" variant="default">
              {t.audit.open}
            </Button>
          }
        />
      </May>
      <May do="own">
        <Policies />
      </May>
      <LeaveTeam />
      <May do="own">
        <DeleteTeam />
      </May>
    </Page>
  );
}

function Edit() {
  const t = useTexts();
  const team = useTeam();
  const [open, setOpen] = useState(false);
  return (
    <May do="own">
      <Button variant="default" disabled={!team} onClick={() => setOpen(true)}>
        {t.teams.edit}
      </Button>
      {team && open && <TeamDialog team={team} close={() => setOpen(false)} />}
    </May>
  );
}
