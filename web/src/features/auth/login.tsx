import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import { entered } from "../../shared/api/session";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Fault } from "../../shared/ui/parts";
import styles from "./auth.module.css";
import { Frame } from "./frame";

/** Email and password first; the second factor is asked for when the service does. */
export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const [second, setSecond] = useState(false);
  const form = useForm({ email: "", password: "", mfacode: "" }, async ({ email, password, mfacode }) => {
    try {
      const body = second ? { email, password, mfacode } : { email, password };
      const { user } = await take(POST("/api/v1/login", { body }));
      entered(client, user);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "mfa_required") throw error;
      setSecond(true);
    }
  });
  if (second) {
    return (
      <Frame title={t.auth.second.title} lead={t.auth.second.lead}>
        <form className={styles.form} onSubmit={form.submit}>
          <TextInput
            {...text(form, "mfacode")}
            label={t.auth.second.code}
            description={t.auth.second.help}
            autoComplete="one-time-code"
            autoFocus
            required
            withAsterisk={false}
            size="md"
          />
          <Fault text={form.fault} />
          <Button type="submit" size="md" loading={form.busy}>
            {t.auth.login.action}
          </Button>
          <button
            type="button"
            className={styles.plain}
            onClick={() => {
              setSecond(false);
              form.set("mfacode", "");
            }}
          >
            {t.auth.second.back}
          </button>
        </form>
      </Frame>
    );
  }
  return (
    <Frame
      title={t.auth.login.title}
      foot={
        <>
          {t.auth.login.new} <Link to="/signup">{t.auth.signup.action}</Link>
        </>
      }
    >
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
        <PasswordInput
          {...text(form, "password")}
          label={t.auth.password}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
          required
          withAsterisk={false}
          size="md"
        />
        <Fault text={form.fault} />
        <Button type="submit" size="md" loading={form.busy}>
          {t.auth.login.action}
        </Button>
        <Link to="/lost">{t.auth.login.lost}</Link>
      </form>
    </Frame>
  );
}
