import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { entered } from "../../shared/api/session";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Fault } from "../../shared/ui/parts";
import styles from "./auth.module.css";
import { Frame } from "./frame";

export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const form = useForm({ name: "", email: "", password: "" }, async ({ name, email, password }) => {
    const body = name.trim() === "" ? { email, password } : { email, password, name };
    const { user } = await take(POST("/api/v1/signup", { body }));
    entered(client, user);
  });
  return (
    <Frame
      title={t.auth.signup.title}
      lead={t.auth.signup.lead}
      foot={
        <>
          {t.auth.signup.known} <Link to="/login">{t.auth.login.action}</Link>
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
          description={t.auth.passwordHelp}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
          minLength={8}
          required
          withAsterisk={false}
          size="md"
        />
        <TextInput {...text(form, "name")} label={t.auth.signup.name} autoComplete="name" size="md" />
        <Fault text={form.fault} />
        <Button type="submit" size="md" loading={form.busy}>
          {t.auth.signup.action}
        </Button>
      </form>
    </Frame>
  );
}
