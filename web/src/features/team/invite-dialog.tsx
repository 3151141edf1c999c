/** Invites a person, or makes a new link for an invitation. A link that is not emailed is shown once. */
import { Button, Switch } from "@mantine/core";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { useMe, type Role } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { CopyLine } from "../../shared/ui/copy-line";
import { Dialog } from "../../shared/ui/dialog";
import { flag, useForm } from "../../shared/ui/form";
import { ButtonRow, FormLayout, RequiredField, Rows } from "../../shared/ui/form-layout";
import { filterFields, filterValues, type FilterValues } from "../../shared/ui/monitor-filter";
import { MonitorFilterField } from "../../shared/ui/monitor-filter-field";
import { showToast } from "../../shared/ui/toast";
import type { Invitation } from "./data";
import { RoleField } from "./role-field";
import { mayHaveFilter, ROLES } from "./roles";

interface Values extends FilterValues {
  email: string;
  role: Role;
  mail: boolean;
}

interface Props {
  /** The invitation that gets a new link. */
  invitation?: Invitation;
  close: () => void;
  saved: () => Promise<void>;
}

export function InviteDialog({ invitation, close, saved }: Props) {
  const { invitations } = useTexts();
  const { mail_server } = useMe();
  const [link, setLink] = useState<string | null>(null);
  const mail = mail_server && (invitation?.mailed ?? true);
  const initial = { email: invitation?.email ?? "", role: "viewer", mail, ...filterValues() } as const;
  const form = useForm<Values>(initial, async ({ email, role, mail, ...limit }) => {
    const limited = mayHaveFilter(role) && filterFields(limit);
    const wanted = invitation ? { invitationid: invitation.invitationid } : { email, role, ...limited };
    const answer = await unwrap(POST("/api/v1/invitation/save", { body: { ...wanted, mail } }));
    await saved();
    if (answer.link !== undefined) return setLink(answer.link);
    showToast(invitations.sent(email));
    close();
  });
  if (link !== null) return <LinkDialog email={form.values.email} link={link} close={close} />;
  return (
    <Dialog title={invitation ? invitations.newLinkTitle(invitation.email) : invitations.inviteTitle} close={close}>
      <FormLayout form={form} action={form.values.mail ? invitations.send : invitations.createLink} cancel={close}>
        {invitation ? <p>{invitations.newLinkHelp}</p> : <Invited form={form} />}
        <Switch
          {...flag(form, "mail")}
          label={invitations.byMail}
          description={mail_server ? invitations.byMailHelp : invitations.noMailServer}
        />
      </FormLayout>
    </Dialog>
  );
}

function Invited({ form }: { form: ReturnType<typeof useForm<Values>> }) {
  const t = useTexts();
  return (
    <>
      <RequiredField form={form} field="email" type="email" label={t.auth.email} autoComplete="off" data-autofocus />
      <RoleField form={form} roles={ROLES} />
      {mayHaveFilter(form.values.role) && <MonitorFilterField form={form} />}
    </>
  );
}

/** The link is shown only once, so the dialog does not close by accident. */
function LinkDialog({ email, link, close }: { email: string; link: string; close: () => void }) {
  const { invitations } = useTexts();
  return (
    <Dialog
      title={invitations.linkTitle(email)}
      close={close}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Rows>
        <p>{invitations.once}</p>
        <CopyLine label={invitations.link} value={link} wrap />
        <ButtonRow>
          <Button onClick={close}>{invitations.done}</Button>
        </ButtonRow>
      </Rows>
    </Dialog>
  );
}
