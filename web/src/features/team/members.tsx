/** The team's users and their roles: list, add, edit, suspend, log out and remove them. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiKeysQuery } from "../../shared/api/api-keys";
import { POST, unwrap } from "../../shared/api/client";
import { meQuery as currentUser, showTeam, signedOut, useMay, useMe } from "../../shared/api/session";
import { teamQuery } from "../../shared/api/team";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { useErrorMessage } from "../../shared/ui/error-message";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Out, Pause, Pencil, Play, Plus, Shield, Trash } from "../../shared/ui/icons";
import { ListRow } from "../../shared/ui/list-row";
import { Loading } from "../../shared/ui/loading";
import { filterText } from "../../shared/ui/monitor-filter";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { mayAssign } from "./may-assign";
import { MemberDialog, type User } from "./member-dialog";

type Open = { what: "add" } | { what: "change" | "mfareset" | "suspend" | "revoke" | "delete"; user: User } | null;

export function Members() {
  const t = useTexts();
  const me = useMe();
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(teamQuery);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const manages = useMay("people");
  // The user's own role may have changed, and a removed user's keys are removed too.
  const renew = async () => {
    const changed = [teamQuery.queryKey, currentUser.queryKey, apiKeysQuery.queryKey];
    await Promise.all(changed.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  const errorMessage = useErrorMessage();
  const suspend = async ({ userid }: User, suspended: boolean) => {
    await unwrap(POST("/api/v1/member/save", { body: { userid, suspended } }));
    await renew();
  };
  const menu = (user: User) => (
    <>
      <Menu.Item leftSection={<Pencil />} onClick={() => setOpen({ what: "change", user })}>
        {t.team.change}
      </Menu.Item>
      {user.suspended ? (
        <Menu.Item
          leftSection={<Play />}
          onClick={() => void suspend(user, false).catch((error: unknown) => showToast(errorMessage(error), true))}
        >
          {t.team.unsuspend}
        </Menu.Item>
      ) : (
        <Menu.Item leftSection={<Pause />} onClick={() => setOpen({ what: "suspend", user })}>
          {t.team.suspend}
        </Menu.Item>
      )}
      {user.mfa && user.managed && user.userid !== me.userid && (
        <Menu.Item leftSection={<Shield />} onClick={() => setOpen({ what: "mfareset", user })}>
          {t.team.mfaReset}
        </Menu.Item>
      )}
      <Menu.Item leftSection={<Out />} onClick={() => setOpen({ what: "revoke", user })}>
        {t.team.revoke}
      </Menu.Item>
      <Menu.Item leftSection={<Trash />} color="red" onClick={() => setOpen({ what: "delete", user })}>
        {t.team.remove}
      </Menu.Item>
    </>
  );
  return (
    <Panel
      id="members"
      title={t.team.members}
      lead={t.team.lead}
      actions={
        manages && (
          <Button variant="default" leftSection={<Plus />} onClick={() => setOpen({ what: "add" })}>
            {t.team.add}
          </Button>
        )
      }
    >
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && (
        <ul>
          {data.map((user) => (
            <ListRow
              key={user.userid}
              name={user.email}
              face={user.email.charAt(0).toUpperCase()}
              badges={
                <>
                  {user.userid === me.userid && <Badge tone="accent">{t.team.you}</Badge>}
                  {user.suspended && <Badge tone="wait">{t.team.suspended}</Badge>}
                </>
              }
              menu={manages && mayAssign(me.role, user.role) && menu(user)}
            >
              {t.team.roles[user.role]}
              {user.monitor_filter && ` (${filterText(t, user.monitor_filter)})`}
            </ListRow>
          ))}
        </ul>
      )}
      {open?.what === "add" && <MemberDialog close={close} saved={renew} />}
      {open?.what === "change" && <MemberDialog user={open.user} close={close} saved={renew} />}
      {open?.what === "suspend" && (
        <Confirm title={t.team.suspendTitle(open.user.email)} action={t.team.suspend} close={close} run={() => suspend(open.user, true)}>
          {t.team.suspendHelp}
        </Confirm>
      )}
      {open?.what === "mfareset" && (
        <Confirm
          title={t.team.mfaResetTitle(open.user.email)}
          action={t.team.mfaReset}
          close={close}
          run={async () => {
            await unwrap(POST("/api/v1/member/mfareset", { body: { userid: open.user.userid } }));
            showToast(t.team.mfaResetDone(open.user.email));
            await renew();
          }}
        >
          {t.team.mfaResetHelp}
        </Confirm>
      )}
      {open?.what === "revoke" && (
        <Confirm
          title={t.team.revokeTitle(open.user.email)}
          action={t.team.revoke}
          close={close}
          run={async () => {
            await unwrap(POST("/api/v1/team/revoke", { body: { userids: [open.user.userid] } }));
            if (open.user.userid === me.userid) {
              signedOut(client);
              return;
            }
            showToast(t.team.revoked(open.user.email));
            await renew();
          }}
        >
          {t.team.revokeHelp}
        </Confirm>
      )}
      {open?.what === "delete" && (
        <Confirm
          title={t.team.removeTitle(open.user.email)}
          action={t.team.remove}
          typed={open.user.email}
          close={close}
          run={async () => {
            await unwrap(POST("/api/v1/team/delete", { body: { userids: [open.user.userid] } }));
            // The account remains if it is in another team.
            if (open.user.userid === me.userid) await showTeam(client, null);
            else await renew();
          }}
        >
          {data?.length === 1 ? t.team.removeLast : t.team.removeHelp}
        </Confirm>
      )}
    </Panel>
  );
}
