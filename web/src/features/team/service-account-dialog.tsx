/** Creates a service account, or changes its name and role. */
import { POST, unwrap } from "../../shared/api/client";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { useForm } from "../../shared/ui/form";
import { FormLayout, RequiredField } from "../../shared/ui/form-layout";
import { showToast } from "../../shared/ui/toast";
import type { ServiceAccount } from "./data";
import { RoleField } from "./role-field";

type ServiceRole = ServiceAccount["role"];

const ROLES: readonly ServiceRole[] = ["admin", "editor", "responder", "viewer"];

interface Props {
  service?: ServiceAccount;
  close: () => void;
  saved: () => Promise<void>;
}

export function ServiceAccountDialog({ service, close, saved }: Props) {
  const t = useTexts();
  const { serviceAccounts } = t;
  const form = useForm<{ name: string; role: ServiceRole }>(
    { name: service?.name ?? "", role: service?.role ?? "viewer" },
    async ({ name, role }) => {
      const body = { ...(service && { serviceid: service.serviceid }), name, ...(role !== service?.role && { role }) };
      await unwrap(POST("/api/v1/service/save", { body }));
      showToast(service ? t.team.saved(name) : serviceAccounts.created(name));
      await saved();
      close();
    },
  );
  return (
    <Dialog title={service ? t.team.changeTitle(service.name) : serviceAccounts.new} close={close}>
      <FormLayout form={form} action={service ? t.common.save : serviceAccounts.create} cancel={close}>
        <RequiredField
          form={form}
          field="name"
          label={t.apiKeys.name}
          description={serviceAccounts.nameHelp}
          autoComplete="off"
          data-autofocus
        />
        <RoleField form={form} roles={ROLES} />
      </FormLayout>
    </Dialog>
  );
}
