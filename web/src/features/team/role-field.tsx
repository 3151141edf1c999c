/** The field that chooses a role, of those that the user may assign. */
import { NativeSelect } from "@mantine/core";
import { useMe, type Role } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import type { Form } from "../../shared/ui/form";
import { mayAssign } from "./may-assign";

/** Explains the selected role in one sentence. */
export function RoleField<R extends Role>({ form, roles }: { form: Form<{ role: R }>; roles: readonly R[] }) {
  const t = useTexts();
  const { role: own } = useMe();
  const { role } = form.values;
  return (
    <NativeSelect
      name="role"
      label={t.team.role}
      description={t.team.roleHelp[role]}
      error={form.errors["role"]}
      data={roles.filter((each) => mayAssign(own, each)).map((each) => ({ value: each, label: t.team.roles[each] }))}
      value={role}
      onChange={(event) => form.set("role", event.currentTarget.value as R)}
    />
  );
}
