/** Adds a user or changes one; a blank password leaves the current one unchanged. */
import { POST, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { useForm } from "../../shared/ui/form";
import { FormLayout, PasswordField, RequiredField } from "../../shared/ui/form-layout";
import { filterChange, filterValues } from "../../shared/ui/monitor-filter";
import { MonitorFilterField } from "../../shared/ui/monitor-filter-field";
import { showToast } from "../../shared/ui/toast";
import { RoleField } from "./role-field";
import { mayHaveFilter, ROLES } from "./roles";

export type User = components["schemas"]["ListedMember"];

interface Props {
  user?: User;
  close: () => void;
  saved: () => Promise<void>;
}

export function MemberDialog({ user, close, saved }: Props) {
  const t = useTexts();
  const me = useMe();
  // Accounts with teams of their own have their own address and password.
  const hasAccountFields = !user || user.managed || user.userid === me.userid;
  const form = useForm(
    { email: user?.email ?? "", password1: "", password2: "", role: user?.role ?? "viewer", ...filterValues(user?.monitor_filter) },
    async ({ email, password1, password2, role, ...limit }) => {
      const body = {
        ...(user && { userid: user.userid }),
        email,
        ...(role !== user?.role && { role }),
        ...((!user || password1 !== "") && { password1, password2 }),
        // In the same call: a member is never without the limit.
        ...(mayHaveFilter(role) && filterChange(user?.monitor_filter, limit)),
      };
      await unwrap(POST("/api/v1/team/save", { body }));
      showToast(user ? t.team.saved(email) : t.team.added(email));
      await saved();
      close();
    },
    ({ password1, password2 }) => (password1 === password2 ? {} : { password2: t.auth.passwordMismatch }),
  );
  return (
    <Dialog title={user ? t.team.changeTitle(user.email) : t.team.addTitle} close={close}>
      <FormLayout form={form} action={user ? t.common.save : t.team.add} cancel={close}>
        {hasAccountFields && (
          <RequiredField form={form} field="email" type="email" label={t.auth.email} autoComplete="off" data-autofocus />
        )}
        <RoleField form={form} roles={ROLES} />
        {mayHaveFilter(form.values.role) && <MonitorFilterField form={form} />}
        {hasAccountFields && (
          <>
            <PasswordField
              form={form}
              field="password1"
              label={user ? t.auth.newPassword : t.auth.password}
              description={user ? t.team.keepPassword : t.team.firstPassword}
              autoComplete="new-password"
              required={!user}
            />
            <PasswordField form={form} field="password2" label={t.auth.confirmPassword} autoComplete="new-password" required={!user} />
          </>
        )}
      </FormLayout>
    </Dialog>
  );
}
