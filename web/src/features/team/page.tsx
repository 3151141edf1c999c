/** The team's users and their roles: list, add, edit, log out and remove them. */
import { Button, Menu, NativeSelect, TagsInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { meQuery as currentUser, signedOut, useMay, useMe, type Role } from "../../shared/api/session";
import { teamQuery } from "../../shared/api/team";
import { useTexts } from "../../shared/i18n";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Confirm } from "../../shared/ui/confirm";
import { Dialog } from "../../shared/ui/dialog";
import { useErrorMessage } from "../../shared/ui/error-message";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { More, Out, Pause, Pencil, Play, Plus, Trash } from "../../shared/ui/icons";
import { RequiredField, PasswordField, FormLayout } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { filterText } from "../../shared/ui/monitor-filter";
import { Page } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import styles from "./team.module.css";

type User = components["schemas"]["ListedMember"];

type Open = { what: "add" } | { what: "change" | "suspend" | "revoke" | "delete"; user: User } | null;

export function Component() {
  const t = useTexts();
  const me = useMe();
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(teamQuery);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const manages = useMay("people");
  // The user's own role may have changed.
  const renew = async () => {
    await Promise.all([client.invalidateQueries({ queryKey: teamQuery.queryKey }), client.invalidateQueries(currentUser)]);
  };
  const errorMessage = useErrorMessage();
  const suspend = async ({ userid }: User, suspended: boolean) => {
    await unwrap(POST("/api/v1/member/save", { body: { userid, suspended } }));
    await renew();
  };
  return (
    <Page
      title={t.team.title}
      lead={t.team.lead}
      narrow
      actions={
        manages && (
          <Button leftSection={<Plus />} onClick={() => setOpen({ what: "add" })}>
            {t.team.add}
          </Button>
        )
      }
    >
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && (
        <ul className={styles.list}>
          {data.map((user) => (
            <li key={user.userid} className={styles.user}>
              <span className={styles.face} aria-hidden="true">
                {user.email.charAt(0).toUpperCase()}
              </span>
              <span className={styles.email}>{user.email}</span>
              {user.userid === me.userid && <span className={styles.you}>{t.team.you}</span>}
              {user.suspended && <span className={styles.you}>{t.team.suspended}</span>}
              <span className={styles.role}>
                {t.team.roles[user.role]}
                {user.monitor_filter && ` (${filterText(t, user.monitor_filter)})`}
              </span>
              {manages && mayAssign(me.role, user.role) && (
                <ActionMenu
                  width={200}
                  button={
                    <button type="button" className={styles.more} aria-label={t.team.actions(user.email)}>
                      <More />
                    </button>
                  }
                >
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
                  <Menu.Item leftSection={<Out />} onClick={() => setOpen({ what: "revoke", user })}>
                    {t.team.revoke}
                  </Menu.Item>
                  <Menu.Item leftSection={<Trash />} color="red" onClick={() => setOpen({ what: "delete", user })}>
                    {t.team.remove}
                  </Menu.Item>
                </ActionMenu>
              )}
            </li>
          ))}
        </ul>
      )}
      {open?.what === "add" && <Edit close={close} saved={renew} />}
      {open?.what === "change" && <Edit user={open.user} close={close} saved={renew} />}
      {open?.what === "suspend" && (
        <Confirm title={t.team.suspendTitle(open.user.email)} action={t.team.suspend} close={close} run={() => suspend(open.user, true)}>
          {t.team.suspendHelp}
        </Confirm>
      )}
      {open?.what === "revoke" && (
        <Confirm
          title={t.team.revokeTitle(open.user.email)}
          action={t.team.revoke}
          close={close}
          run={async () => {
            await unwrap(POST("/api/v1/team/revoke", { body: { userids: [open.user.userid] } }));
            if (open.user.userid === me.userid) signedOut(client);
            else showToast(t.team.revoked(open.user.email));
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
            if (open.user.userid === me.userid) signedOut(client);
            else await renew();
          }}
        >
          {data?.length === 1 ? t.team.removeLast : t.team.removeHelp}
        </Confirm>
      )}
    </Page>
  );
}

interface EditProps {
  user?: User;
  close: () => void;
  saved: () => Promise<void>;
}

const ROLES: readonly Role[] = ["owner", "admin", "editor", "responder", "viewer", "billing"];

/** Nobody assigns a role above their own; only owners manage payments. */
function mayAssign(own: Role, other: Role): boolean {
  return own === "owner" || (own === "admin" && other !== "owner" && other !== "billing");
}

/** Viewers and responders can be limited to some monitors. */
function mayHaveFilter(role: Role): boolean {
  return role === "viewer" || role === "responder";
}

/** Adds a user or changes one; a blank password leaves the current one unchanged. */
function Edit({ user, close, saved }: EditProps) {
  const t = useTexts();
  const { role: own } = useMe();
  const roles = ROLES.filter((role) => mayAssign(own, role));
  const before = user?.monitor_filter?.tags ?? [];
  const form = useForm(
    { email: user?.email ?? "", password1: "", password2: "", role: user?.role ?? own, tags: before },
    async ({ email, password1, password2, role, tags }) => {
      const body = {
        ...(user && { userid: user.userid }),
        email,
        ...(role !== user?.role && { role }),
        ...((!user || password1 !== "") && { password1, password2 }),
      };
      const { userid } = await unwrap(POST("/api/v1/team/save", { body }));
      if (mayHaveFilter(role) && tags.join() !== before.join()) {
        const filter = tags.length > 0 ? { tags } : { monitor_filter: null };
        await unwrap(POST("/api/v1/member/save", { body: { userid, ...filter } }));
      }
      showToast(user ? t.team.saved(email) : t.team.added(email));
      await saved();
      close();
    },
    ({ password1, password2 }) => (password1 === password2 ? {} : { password2: t.auth.passwordMismatch }),
  );
  return (
    <Dialog title={user ? t.team.changeTitle(user.email) : t.team.addTitle} close={close}>
      <FormLayout form={form} action={user ? t.common.save : t.team.add} cancel={close}>
        <RequiredField form={form} field="email" type="email" label={t.auth.email} autoComplete="off" data-autofocus />
        <NativeSelect
          name="role"
          label={t.team.role}
          description={t.team.roleHelp[form.values.role]}
          error={form.errors["role"]}
          data={roles.map((role) => ({ value: role, label: t.team.roles[role] }))}
          value={form.values.role}
          onChange={(event) => form.set("role", event.currentTarget.value as Role)}
        />
        {mayHaveFilter(form.values.role) && (
          <TagsInput
            name="tags"
            label={t.monitorFilter.tags}
            description={t.monitorFilter.tagsHelp}
            error={form.errors["tags"]}
            maxTags={20}
            value={form.values.tags}
            onChange={(tags) => form.set("tags", tags)}
          />
        )}
        <PasswordField
          form={form}
          field="password1"
          label={user ? t.auth.newPassword : t.auth.password}
          description={user ? t.team.keepPassword : t.team.firstPassword}
          autoComplete="new-password"
          required={!user}
        />
        <PasswordField form={form} field="password2" label={t.auth.confirmPassword} autoComplete="new-password" required={!user} />
      </FormLayout>
    </Dialog>
  );
}
