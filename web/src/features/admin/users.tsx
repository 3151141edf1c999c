/** All users: suspending, deleting and helping them, and who administers the installation. */
import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { meQuery, useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { Key, Mail, Pause, Play, Shield, Trash } from "../../shared/ui/icons";
import { ListRow } from "../../shared/ui/list-row";
import { Ago } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import styles from "./admin.module.css";
import { changeUser, deleteUser, mailResetLink, removeFactors, usersQuery, type User } from "./data";
import { SearchList } from "./search-list";

type What = "suspend" | "resume" | "reset" | "factors" | "grant" | "revoke" | "delete";

export function Users() {
  const { admin } = useTexts();
  const [open, setOpen] = useState<{ what: What; user: User } | null>(null);
  return (
    <>
      <SearchList<User> search={admin.searchUsers} query={usersQuery}>
        {(users) => (
          <ul className={styles.rows}>
            {users.map((user) => (
              <Row key={user.userid} user={user} open={(what) => setOpen({ what, user })} />
            ))}
          </ul>
        )}
      </SearchList>
      {open && <Dialog {...open} close={() => setOpen(null)} />}
    </>
  );
}

function Row({ user, open }: { user: User; open: (what: What) => void }) {
  const t = useTexts();
  const { admin } = t;
  const me = useMe();
  const item = (what: What, icon: ReactNode, label: string, color?: string) => (
    <Menu.Item leftSection={icon} color={color} onClick={() => open(what)}>
      {label}
    </Menu.Item>
  );
  return (
    <ListRow
      name={user.email}
      face={user.email.charAt(0).toUpperCase()}
      badges={
        <>
          {user.userid === me.userid && <Badge tone="accent">{t.team.you}</Badge>}
          {user.admin && <Badge tone="accent">{admin.administrator}</Badge>}
          {user.suspended && <Badge tone="wait">{admin.suspended}</Badge>}
        </>
      }
      menu={
        <>
          {user.suspended ? item("resume", <Play />, admin.resume) : item("suspend", <Pause />, admin.suspend)}
          {item("reset", <Mail />, admin.reset)}
          {user.mfa && item("factors", <Key />, admin.factors)}
          {user.admin ? item("revoke", <Shield />, admin.revoke) : item("grant", <Shield />, admin.grant)}
          {item("delete", <Trash />, admin.deleteUser, "red")}
        </>
      }
    >
      {user.teams.map(({ name, role }) => `${name} (${t.team.roles[role]})`).join(", ")}, {user.mfa ? admin.mfa : admin.noMfa},{" "}
      {admin.lastSeen} <Ago at={user.last_seen} />
    </ListRow>
  );
}

function Dialog({ what, user, close }: { what: What; user: User; close: () => void }) {
  const { admin } = useTexts();
  const client = useQueryClient();
  const { email, userid } = user;
  const confirm = (
    title: string,
    action: string,
    help: string,
    run: () => Promise<void>,
    more: { color?: string; typed?: string } = {},
  ) => (
    <Confirm title={title} action={action} close={close} run={run} {...more}>
      {help}
    </Confirm>
  );
  /** The user may have changed what they may do themselves. */
  const change = async (changes: { suspended?: boolean; admin?: boolean }) => {
    await changeUser(client, { userid, ...changes });
    await client.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  const announced = (work: Promise<void>, text: string) => work.then(() => showToast(text));
  const harmless = { color: "blue" };
  switch (what) {
    case "suspend":
      return confirm(admin.suspendTitle(email), admin.suspend, admin.suspendUserHelp, () => change({ suspended: true }));
    case "resume":
      return confirm(admin.resumeTitle(email), admin.resume, admin.resumeUserHelp, () => change({ suspended: false }), harmless);
    case "reset":
      return confirm(
        admin.resetTitle(email),
        admin.reset,
        admin.resetHelp,
        () => announced(mailResetLink(user), admin.resetDone(email)),
        harmless,
      );
    case "factors":
      return confirm(admin.factorsTitle(email), admin.factors, admin.factorsHelp, () => removeFactors(client, user));
    case "grant":
      return confirm(admin.grantTitle(email), admin.grant, admin.grantHelp, () => change({ admin: true }));
    case "revoke":
      return confirm(admin.revokeTitle(email), admin.revoke, admin.revokeHelp, () => change({ admin: false }));
    case "delete":
      return confirm(
        admin.deleteTitle(email),
        admin.deleteUser,
        admin.deleteUserHelp,
        () => announced(deleteUser(client, user), admin.deleted(email)),
        { typed: email },
      );
  }
}
