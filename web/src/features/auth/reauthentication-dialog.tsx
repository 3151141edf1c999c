/** Asks users for their password, and the second factor if they have one, before a dangerous call. */
import type { FocusEvent, KeyboardEvent } from "react";
import { POST, unwrap, type Ways } from "../../shared/api/client";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { useForm } from "../../shared/ui/form";
import { FormLayout, PasswordField, RequiredField } from "../../shared/ui/form-layout";

interface Props {
  ways: Ways;
  close: (reauthenticated: boolean) => void;
}

export default function ReauthenticationDialog({ ways, close }: Props) {
  const { auth, common } = useTexts();
  const { email } = useMe();
  const second = ways.some(({ mfacode }) => mfacode);
  const form = useForm({ password: "", mfacode: "" }, async ({ password, mfacode }) => {
    await unwrap(POST("/api/v1/reauthenticate", { body: { password, ...(second && { mfacode }) } }));
    close(true);
  });
  const cancel = () => close(false);
  return (
    <Dialog title={auth.reauthentication.title} close={cancel} closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
      {/* There may be a dialog below this one, which the key must not close. */}
      <div onFocus={ignoreEscape} onKeyDown={(event: KeyboardEvent) => event.key === "Escape" && cancel()}>
        <FormLayout form={form} action={auth.reauthentication.action} cancel={cancel} cancelLabel={common.cancel}>
          <p>{auth.reauthentication.lead}</p>
          {/* For password managers. */}
          <input type="email" name="email" value={email} autoComplete="username" readOnly hidden />
          <PasswordField form={form} field="password" label={auth.password} autoComplete="current-password" required data-autofocus />
          {second && (
            <RequiredField
              form={form}
              field="mfacode"
              label={auth.secondFactor.code}
              description={auth.secondFactor.help}
              autoComplete="one-time-code"
            />
          )}
        </FormLayout>
      </div>
    </Dialog>
  );
}

/** Dialogs of the component library close on Escape, unless the focused element has this attribute. */
function ignoreEscape({ target }: FocusEvent) {
  target.setAttribute("data-mantine-stop-propagation", "true");
}
