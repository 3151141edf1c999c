import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { useForm } from "../../shared/ui/form";
import { FormLayout } from "../../shared/ui/form-layout";
import styles from "./auth.module.css";
import { EmailField, AuthLayout } from "./auth-layout";

export function Component() {
  const t = useTexts();
  const [sent, setSent] = useState(false);
  const form = useForm({ email: "" }, async (body) => {
    await unwrap(POST("/api/v1/password/lost", { body }));
    setSent(true);
  });
  return (
    <AuthLayout title={t.auth.forgot.title} lead={t.auth.forgot.lead} foot={<Link to="/login">{t.auth.forgot.back}</Link>}>
      {sent ? (
        <p className={styles.good} role="status">
          {t.auth.forgot.sent(form.values.email)}
        </p>
      ) : (
        <FormLayout form={form} action={t.auth.forgot.action}>
          <EmailField form={form} />
        </FormLayout>
      )}
    </AuthLayout>
  );
}
