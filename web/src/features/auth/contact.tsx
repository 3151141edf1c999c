import { Textarea } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Needed, Sheet } from "../../shared/ui/sheet";
import styles from "./auth.module.css";
import { Frame } from "./frame";

export function Component() {
  const t = useTexts();
  const [sent, setSent] = useState(false);
  const empty = { "contact-name": "", "contact-email": "", "contact-subject": "", "contact-message": "" };
  const form = useForm(empty, async (body) => {
    await take(POST("/api/v1/contactus", { body }));
    setSent(true);
  });
  return (
    <Frame title={t.auth.contact} lead={t.auth.contactForm.lead} foot={<Link to="/">{t.auth.contactForm.back}</Link>}>
      {sent ? (
        <p className={styles.good} role="status">
          {t.auth.contactForm.sent}
        </p>
      ) : (
        <Sheet form={form} action={t.auth.contactForm.action}>
          <Needed form={form} field="contact-name" label={t.auth.contactForm.name} autoComplete="name" />
          <Needed form={form} field="contact-email" label={t.auth.email} type="email" autoComplete="email" />
          <Needed form={form} field="contact-subject" label={t.auth.contactForm.subject} />
          <Textarea {...text(form, "contact-message")} label={t.auth.contactForm.message} rows={6} required withAsterisk={false} />
        </Sheet>
      )}
    </Frame>
  );
}
