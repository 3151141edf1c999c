import { useState } from "react";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { useTexts } from "../../shared/text";
import { useForm } from "../../shared/ui/form";
import { Sheet } from "../../shared/ui/sheet";
import styles from "./auth.module.css";
import { Email, Frame } from "./frame";

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
        <Sheet form={form} action={t.auth.lost.action}>
          <Email form={form} />
        </Sheet>
      )}
    </Frame>
  );
}
