import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { POST, take } from "../../shared/api/client";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Fault } from "../../shared/ui/parts";
import { say } from "../../shared/ui/toast";
import styles from "./auth.module.css";
import { Frame } from "./frame";

/** The token came behind the `#`, which browsers keep from servers and referrers. */
function tokenid(): string {
  return new URLSearchParams(window.location.hash.slice(1)).get("tokenid") ?? "";
}

export function Component() {
  const t = useTexts();
  const navigate = useNavigate();
  const [token] = useState(tokenid);
  const form = useForm(
    { email: "", password1: "", password2: "" },
    async (values) => {
      await take(POST("/api/v1/password/update", { body: { ...values, tokenid: token } }));
      say(t.auth.reset.done);
      await navigate("/login", { replace: true });
    },
    ({ password1, password2 }) => (password1 === password2 ? {} : { password2: t.auth.differ }),
  );
  if (token === "") {
    return (
      <Frame title={t.auth.reset.title} lead={t.auth.reset.noToken}>
        <Link to="/lost">{t.auth.lost.action}</Link>
      </Frame>
    );
  }
  return (
    <Frame title={t.auth.reset.title} lead={t.auth.reset.lead}>
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
          {...text(form, "password1")}
          label={t.auth.newPassword}
          description={t.auth.passwordHelp}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
          minLength={8}
          required
          withAsterisk={false}
          size="md"
        />
        <PasswordInput
          {...text(form, "password2")}
          label={t.auth.again}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
          required
          withAsterisk={false}
          size="md"
        />
        <Fault text={form.fault} />
        <Button type="submit" size="md" loading={form.busy}>
          {t.auth.reset.action}
        </Button>
      </form>
    </Frame>
  );
}
