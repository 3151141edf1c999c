import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { afterReset } from "../../shared/lib/after-reset";
import { useTexts } from "../../shared/i18n";
import { linkParameter } from "../../shared/lib/link-parameter";
import { Link, useNavigate } from "../../shared/router";
import { useForm } from "../../shared/ui/form";
import { PasswordField, FormLayout } from "../../shared/ui/form-layout";
import { showToast } from "../../shared/ui/toast";
import { AuthLayout, EmailField, NewPasswordField } from "./auth-layout";

export function Component() {
  const t = useTexts();
  const navigate = useNavigate();
  const [token] = useState(() => linkParameter("tokenid"));
  const form = useForm(
    { email: linkParameter("email"), password1: "", password2: "" },
    async (values) => {
      await unwrap(POST("/api/v1/password/update", { body: { ...values, tokenid: token } }));
      showToast(t.auth.reset.done);
      await navigate("/login", { replace: true, state: afterReset });
    },
    ({ password1, password2 }) => (password1 === password2 ? {} : { password2: t.auth.passwordMismatch }),
  );
  if (token === "") {
    return (
      <AuthLayout title={t.auth.reset.title} lead={t.auth.reset.noToken}>
        <Link to="/lost">{t.auth.forgot.action}</Link>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title={t.auth.reset.title} lead={t.auth.reset.lead}>
      <FormLayout form={form} action={t.auth.reset.action}>
        <EmailField form={form} />
        <NewPasswordField form={form} field="password1" label={t.auth.newPassword} />
        <PasswordField form={form} field="password2" label={t.auth.confirmPassword} autoComplete="new-password" required size="md" />
      </FormLayout>
    </AuthLayout>
  );
}
