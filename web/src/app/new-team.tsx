/** Creates a team and shows it. */
import { useQueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../shared/api/client";
import { switchTeam } from "../shared/api/teams";
import { useTexts } from "../shared/i18n";
import { useNavigate } from "../shared/router";
import { Dialog } from "../shared/ui/dialog";
import { useForm } from "../shared/ui/form";
import { FormLayout, RequiredField } from "../shared/ui/form-layout";
import { showToast } from "../shared/ui/toast";

export default function NewTeam({ close }: { close: () => void }) {
  const { teams } = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ name: "" }, async ({ name }) => {
    const { groupid } = await unwrap(POST("/api/v1/team/new", { body: { name } }));
    close();
    await switchTeam(client, groupid);
    await navigate("/");
    showToast(teams.created(name));
  });
  return (
    <Dialog title={teams.newTitle} close={close}>
      <FormLayout form={form} action={teams.create} cancel={close}>
        <RequiredField form={form} field="name" label={teams.name} description={teams.newHelp} autoComplete="off" data-autofocus />
      </FormLayout>
    </Dialog>
  );
}
