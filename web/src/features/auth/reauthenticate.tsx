/** A login dialog over a form with unsaved changes, after the session has ended. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { redirectToLogin, resumeSession } from "../../shared/api/session-expiry";
import { ApiError } from "../../shared/api/error";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import { useForm } from "../../shared/ui/form";
import { RequiredField, PasswordField, FormLayout } from "../../shared/ui/form-layout";
import styles from "./auth.module.css";

export default function Reauthenticate() {
  const t = useTexts();
  const client = useQueryClient();
  const me = useMe();
  const { email } = me;
  const [second, setSecond] = useState(false);
  const form = useForm({ password: "", mfacode: "" }, async ({ password, mfacode }) => {
    try {
      const body = { email, password, ...(second && { mfacode }) };
      await unwrap(POST("/api/v1/login", { body }));
      // The session may be in another team now, but the tab stays in its own.
      resumeSession(client, { ...me, mfa: second });
    } catch (error) {
      if (!(error instanceof ApiError) || !error.has("mfa_required")) throw error;
      setSecond(true);
    }
  });
  const away = () => redirectToLogin(client);
  return (
    <Dialog title={t.auth.sessionEnded.title} close={away} closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
      <FormLayout
        form={form}
        action={t.auth.login.action}
        after={
          <button type="button" className={styles.plain} onClick={away}>
            {t.auth.sessionEnded.discard}
          </button>
        }
      >
        <p>{t.auth.sessionEnded.lead(email)}</p>
        <PasswordField form={form} field="password" label={t.auth.password} autoComplete="current-password" required data-autofocus />
        {second && (
          <RequiredField
            form={form}
            field="mfacode"
            label={t.auth.secondFactor.code}
            description={t.auth.secondFactor.help}
            autoComplete="one-time-code"
            autoFocus
          />
        )}
      </FormLayout>
    </Dialog>
  );
}
