/** Verifies an email address with an emailed link; works without a login. A button, because mail scanners open links. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { meQuery } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { linkParameter } from "../../shared/lib/link-parameter";
import { Link } from "../../shared/router";
import { useForm } from "../../shared/ui/form";
import { FormLayout } from "../../shared/ui/form-layout";
import styles from "./auth.module.css";
import { AuthLayout } from "./auth-layout";

export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const [token] = useState(() => linkParameter("token"));
  const [done, setDone] = useState(false);
  const form = useForm({}, async () => {
    await unwrap(POST("/api/v1/email/verify", { body: { token } }));
    setDone(true);
    void client.invalidateQueries({ queryKey: meQuery.queryKey });
  });
  return (
    <AuthLayout
      title={t.auth.verify.title}
      lead={token === "" ? t.auth.verify.noToken : t.auth.verify.lead}
      foot={<Link to="/">{t.auth.verify.next}</Link>}
    >
      {done ? (
        <p className={styles.good} role="status">
          {t.auth.verify.done}
        </p>
      ) : (
        token !== "" && <FormLayout form={form} action={t.auth.verify.action} />
      )}
    </AuthLayout>
  );
}
