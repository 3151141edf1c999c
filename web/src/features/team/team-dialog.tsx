/** Changes the team's name and the role of users who are added without one. */
import { NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../../shared/api/client";
import { meQuery, type Role } from "../../shared/api/session";
import { teamsQuery, type Team } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { useForm } from "../../shared/ui/form";
import { FormLayout, RequiredField } from "../../shared/ui/form-layout";
import { showToast } from "../../shared/ui/toast";
import { ROLES } from "./roles";

export function TeamDialog({ team, close }: { team: Team; close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const form = useForm<{ name: string; default_role: Role }>({ name: team.name, default_role: team.default_role }, async (body) => {
    await unwrap(POST("/api/v1/team/settings", { body }));
    const changed = [meQuery.queryKey, teamsQuery.queryKey];
    await Promise.all(changed.map((queryKey) => client.invalidateQueries({ queryKey })));
    showToast(t.teams.saved);
    close();
  });
  return (
    <Dialog title={t.teams.edit} close={close}>
      <FormLayout form={form} action={t.common.save} cancel={close}>
        <RequiredField form={form} field="name" label={t.teams.name} autoComplete="off" data-autofocus />
        <NativeSelect
          name="default_role"
          label={t.teams.defaultRole}
          description={t.teams.defaultRoleHelp}
          error={form.errors["default_role"]}
          data={ROLES.map((role) => ({ value: role, label: t.team.roles[role] }))}
          value={form.values.default_role}
          onChange={(event) => form.set("default_role", event.currentTarget.value as Role)}
        />
      </FormLayout>
    </Dialog>
  );
}
