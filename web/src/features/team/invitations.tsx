/** The invitations that were not accepted yet: list, invite, make a new link, delete. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DELETE, unwrap } from "../../shared/api/client";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { useNow } from "../../shared/lib/now";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Mail, Plus, Refresh, Trash } from "../../shared/ui/icons";
import { ListRow } from "../../shared/ui/list-row";
import { Loading } from "../../shared/ui/loading";
import { filterText } from "../../shared/ui/monitor-filter";
import { Panel } from "../../shared/ui/page";
import { Day } from "../../shared/ui/time";
import { invitationsQuery, type Invitation } from "./data";
import { InviteDialog } from "./invite-dialog";
import { mayAssign } from "./may-assign";
import styles from "./team.module.css";

type Open = { what: "invite" } | { what: "link" | "delete"; invitation: Invitation } | null;

export function Invitations() {
  const { invitations } = useTexts();
  const { role: own } = useMe();
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(invitationsQuery);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const renew = () => client.invalidateQueries({ queryKey: invitationsQuery.queryKey });
  const menu = (invitation: Invitation) => (
    <>
      <Menu.Item leftSection={<Refresh />} onClick={() => setOpen({ what: "link", invitation })}>
        {invitations.newLink}
      </Menu.Item>
      <Menu.Item leftSection={<Trash />} color="red" onClick={() => setOpen({ what: "delete", invitation })}>
        {invitations.delete}
      </Menu.Item>
    </>
  );
  return (
    <Panel
      id="invitations"
      title={invitations.title}
      lead={invitations.lead}
      actions={
        <Button variant="default" leftSection={<Plus />} onClick={() => setOpen({ what: "invite" })}>
          {invitations.invite}
        </Button>
      }
    >
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && <p className={styles.quiet}>{invitations.none}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((invitation) => (
            <ListRow
              key={invitation.invitationid}
              name={invitation.email}
              face={<Mail />}
              badges={<State invitation={invitation} />}
              menu={mayAssign(own, invitation.role) && menu(invitation)}
            >
              <Details invitation={invitation} />
            </ListRow>
          ))}
        </ul>
      )}
      {open?.what === "invite" && <InviteDialog close={close} saved={renew} />}
      {open?.what === "link" && <InviteDialog invitation={open.invitation} close={close} saved={renew} />}
      {open?.what === "delete" && (
        <Confirm
          title={invitations.deleteTitle(open.invitation.email)}
          action={invitations.delete}
          close={close}
          run={async () => {
            const path = { invitationid: open.invitation.invitationid };
            await unwrap(DELETE("/api/v1/invitation/{invitationid}/delete", { params: { path } }));
            await renew();
          }}
        >
          {invitations.deleteHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function State({ invitation: { invited_by, expires } }: { invitation: Invitation }) {
  const { invitations } = useTexts();
  const now = useNow();
  if (!invited_by) return <Badge tone="wait">{invitations.broken}</Badge>;
  return Date.parse(expires) <= now ? <Badge tone="wait">{invitations.expired}</Badge> : null;
}

function Details({ invitation: { role, monitor_filter, mailed, invited_by, expires } }: { invitation: Invitation }) {
  const t = useTexts();
  const { invitations } = t;
  return (
    <>
      {t.team.roles[role]}
      {monitor_filter && ` (${filterText(t, monitor_filter)})`} ·{" "}
      {invited_by ? (
        <>
          {mailed ? invitations.mailed(invited_by) : invitations.linkedBy(invited_by)} · {invitations.expires} <Day at={expires} />
        </>
      ) : (
        invitations.brokenHelp
      )}
    </>
  );
}
