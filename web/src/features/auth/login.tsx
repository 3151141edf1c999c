import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { clearSessionExpiry, useSessionExpiry } from "../../shared/api/session-expiry";
import { ApiError } from "../../shared/api/error";
import { signedIn } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { useForm } from "../../shared/ui/form";
import { RequiredField, PasswordField, FormLayout } from "../../shared/ui/form-layout";
import styles from "./auth.module.css";
import { EmailField, AuthLayout } from "./auth-layout";

/** Email and password first; the second factor only when the service asks for it. */
export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const [second, setSecond] = useState(false);
  const over = useSessionExpiry() === "expired";
  const form = useForm({ email: "", password: "", mfacode: "" }, async ({ email, password, mfacode }) => {
    try {
      const body = second ? { email, password, mfacode } : { email, password };
      await unwrap(POST("/api/v1/login", { body }));
      await signedIn(client);
      clearSessionExpiry();
    } catch (error) {
      if (!(error instanceof ApiError) || !error.has("mfa_required")) throw error;
      setSecond(true);
    }
  });
  if (second) {
    const back = () => {
      setSecond(false);
      form.set("mfacode", "");
    };
    return (
      <AuthLayout title={t.auth.secondFactor.title} lead={t.auth.secondFactor.lead}>
        <FormLayout
          form={form}
          action={t.auth.login.action}
          after={
            <button type="button" className={styles.plain} onClick={back}>
              {t.auth.secondFactor.back}
            </button>
          }
        >
          <RequiredField
            form={form}
            field="mfacode"
            label={t.auth.secondFactor.code}
            description={t.auth.secondFactor.help}
            autoComplete="one-time-code"
            autoFocus
            size="md"
          />
        </FormLayout>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout
      title={t.auth.login.title}
      lead={over ? t.auth.sessionEnded.notice : undefined}
      foot={
        <>
          {t.auth.login.new} <Link to="/signup">{t.auth.signup.action}</Link>
        </>
      }
    >
      <FormLayout form={form} action={t.auth.login.action} after={<Link to="/lost">{t.auth.login.forgot}</Link>}>
        <EmailField form={form} />
        <PasswordField form={form} field="password" label={t.auth.password} autoComplete="current-password" required size="md" />
      </FormLayout>
    </AuthLayout>
  );
}
