import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Fault } from "../../shared/ui/parts";
import styles from "./auth.module.css";
import { Frame } from "./frame";

export function Component() {
  const t = useTexts();
  const [sent, setSent] = useState(false);
  const form = useForm({ email: "" }, async (body) => {
    await take(POST("/api/v1/password/lost", { body }));
    setSent(true);
  });
  return (
    <Frame title={t.auth.lost.title} lead={t.auth.lost.lead} foot={<Link to="/login">{t.auth.lost.back}</Link>}>
      {sent ? (
        <p className={styles.good} role="status">
          {t.auth.lost.sent(form.values.email)}
        </p>
      ) : (
        <form className={styles.form} onSubmit={form.submit}>
          <TextInput
            {...text(form, "email")}
            type="email"
            label={t.auth.email}
            autoComplete="username"
            autoFocus
            required
            withAsterisk={false}
            size="md"
          />
          <Fault text={form.fault} />
          <Button type="submit" size="md" loading={form.busy}>
            {t.auth.lost.action}
          </Button>
        </form>
      )}
    </Frame>
  );
}
