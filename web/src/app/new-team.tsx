/** Creates a team and shows it. */
import { useQueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../shared/api/client";
import { teamsQuery } from "../shared/api/teams";
import { useTexts } from "../shared/i18n";
import { Dialog } from "../shared/ui/dialog";
import { useForm } from "../shared/ui/form";
import { FormLayout, RequiredField } from "../shared/ui/form-layout";
import { useSwitchTeam } from "./use-switch-team";

export default function NewTeam({ close }: { close: () => void }) {
  const { teams } = useTexts();
  const client = useQueryClient();
  const switchTeam = useSwitchTeam();
  const form = useForm({ name: "" }, async ({ name }) => {
    const { groupid } = await unwrap(POST("/api/v1/team/new", { body: { name } }));
    void client.invalidateQueries({ queryKey: teamsQuery.queryKey });
    close();
    await switchTeam({ groupid, name }, teams.created(name));
  });
  return (
    <Dialog title={teams.newTitle} close={close}>
      <FormLayout form={form} action={teams.create} cancel={close}>
        <RequiredField form={form} field="name" label={teams.name} description={teams.newHelp} autoComplete="off" data-autofocus />
      </FormLayout>
    </Dialog>
  );
}
