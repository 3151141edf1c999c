import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { forgive, useEnding } from "../../shared/api/ending";
import { ApiError } from "../../shared/api/error";
import { entered } from "../../shared/api/session";
import { useTexts } from "../../shared/text";
import { useForm } from "../../shared/ui/form";
import { Needed, Password, Sheet } from "../../shared/ui/sheet";
import styles from "./auth.module.css";
import { Email, Frame } from "./frame";

/** Email and password first; the second factor is asked for when the service does. */
export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const [second, setSecond] = useState(false);
  const over = useEnding() === "over";
  const form = useForm({ email: "", password: "", mfacode: "" }, async ({ email, password, mfacode }) => {
    try {
      const body = second ? { email, password, mfacode } : { email, password };
      const { user } = await take(POST("/api/v1/login", { body }));
      entered(client, user, second);
      forgive();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "mfa_required") throw error;
      setSecond(true);
    }
  });
  if (second) {
    const back = () => {
      setSecond(false);
      form.set("mfacode", "");
    };
    return (
      <Frame title={t.auth.second.title} lead={t.auth.second.lead}>
        <Sheet
          form={form}
          action={t.auth.login.action}
          after={
            <button type="button" className={styles.plain} onClick={back}>
              {t.auth.second.back}
            </button>
          }
        >
          <Needed
            form={form}
            field="mfacode"
            label={t.auth.second.code}
            description={t.auth.second.help}
            autoComplete="one-time-code"
            autoFocus
            size="md"
          />
        </Sheet>
      </Frame>
    );
  }
  return (
    <Frame
      title={t.auth.login.title}
      lead={over ? t.auth.ended.over : undefined}
      foot={
        <>
          {t.auth.login.new} <Link to="/signup">{t.auth.signup.action}</Link>
        </>
      }
    >
      <Sheet form={form} action={t.auth.login.action} after={<Link to="/lost">{t.auth.login.lost}</Link>}>
        <Email form={form} />
        <Password form={form} field="password" label={t.auth.password} autoComplete="current-password" required size="md" />
      </Sheet>
    </Frame>
  );
}
