import { Textarea } from "@mantine/core";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { text, useForm } from "../../shared/ui/form";
import { RequiredField, FormLayout } from "../../shared/ui/form-layout";
import styles from "./auth.module.css";
import { AuthLayout } from "./auth-layout";

export function Component() {
  const t = useTexts();
  const [sent, setSent] = useState(false);
  const empty = { "contact-name": "", "contact-email": "", "contact-subject": "", "contact-message": "" };
  const form = useForm(empty, async (body) => {
    await unwrap(POST("/api/v1/contactus", { body }));
    setSent(true);
  });
  return (
    <AuthLayout title={t.auth.contact} lead={t.auth.contactForm.lead} foot={<Link to="/">{t.auth.contactForm.back}</Link>}>
      {sent ? (
        <p className={styles.good} role="status">
          {t.auth.contactForm.sent}
        </p>
      ) : (
        <FormLayout form={form} action={t.auth.contactForm.action}>
          <RequiredField form={form} field="contact-name" label={t.auth.contactForm.name} autoComplete="name" />
          <RequiredField form={form} field="contact-email" label={t.auth.email} type="email" autoComplete="email" />
          <RequiredField form={form} field="contact-subject" label={t.auth.contactForm.subject} />
          <Textarea {...text(form, "contact-message")} label={t.auth.contactForm.message} rows={6} required withAsterisk={false} />
        </FormLayout>
      )}
    </AuthLayout>
  );
}
