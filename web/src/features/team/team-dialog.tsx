/** Changes the team's name and the role of users who are added without one. */
import { NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../../shared/api/client";
import { meQuery, useMe, type Role } from "../../shared/api/session";
import { teamsQuery } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { useForm } from "../../shared/ui/form";
import { FormLayout, RequiredField } from "../../shared/ui/form-layout";
import { showToast } from "../../shared/ui/toast";
import { ROLES } from "./roles";

export function TeamDialog({ close }: { close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const { groupname } = useMe();
  // The API does not return the default role.
  const form = useForm<{ name: string; default_role: Role | "" }>({ name: groupname, default_role: "" }, async ({ name, default_role }) => {
    await unwrap(POST("/api/v1/team/settings", { body: { name, ...(default_role !== "" && { default_role }) } }));
    const changed = [meQuery.queryKey, teamsQuery.queryKey];
    await Promise.all(changed.map((queryKey) => client.invalidateQueries({ queryKey })));
    showToast(t.teams.saved);
    close();
  });
  const kept = { value: "", label: t.teams.defaultRoleKept };
  return (
    <Dialog title={t.teams.edit} close={close}>
      <FormLayout form={form} action={t.common.save} cancel={close}>
        <RequiredField form={form} field="name" label={t.teams.name} autoComplete="off" data-autofocus />
        <NativeSelect
          name="default_role"
          label={t.teams.defaultRole}
          description={t.teams.defaultRoleHelp}
          error={form.errors["default_role"]}
          data={[kept, ...ROLES.map((role) => ({ value: role, label: t.team.roles[role] }))]}
          value={form.values.default_role}
          onChange={(event) => form.set("default_role", event.currentTarget.value as Role | "")}
        />
      </FormLayout>
    </Dialog>
  );
}
