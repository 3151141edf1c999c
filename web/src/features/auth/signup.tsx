import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../../shared/api/client";
import { clearSessionExpiry } from "../../shared/api/session-expiry";
import { firstSignup, signedIn } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { text, useForm } from "../../shared/ui/form";
import { FormLayout } from "../../shared/ui/form-layout";
import { AuthLayout, EmailField, NewPasswordField } from "./auth-layout";

export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const form = useForm({ name: "", email: "", password: "" }, async ({ name, email, password }) => {
    const body = name.trim() === "" ? { email, password } : { email, password, name };
    await unwrap(POST("/api/v1/signup", { body }));
    await signedIn(client);
    clearSessionExpiry();
  });
  const first = firstSignup(client);
  return (
    <AuthLayout
      title={t.auth.signup.title}
      lead={
        first ? `${t.auth.signup.first} ${first.mail_server ? t.auth.signup.mailServer : t.auth.signup.noMailServer}` : t.auth.signup.lead
      }
      foot={
        <>
          {t.auth.signup.known} <Link to="/login">{t.auth.login.action}</Link>
        </>
      }
    >
      <FormLayout form={form} action={t.auth.signup.action}>
        <EmailField form={form} />
        <NewPasswordField form={form} field="password" label={t.auth.password} />
        <TextInput {...text(form, "name")} label={t.auth.signup.name} autoComplete="name" size="md" />
      </FormLayout>
    </AuthLayout>
  );
}
