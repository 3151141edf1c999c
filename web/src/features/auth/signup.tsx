import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { POST, take } from "../../shared/api/client";
import { forgive } from "../../shared/api/ending";
import { entered } from "../../shared/api/session";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Password, Sheet } from "../../shared/ui/sheet";
import { Email, Frame } from "./frame";

export function Component() {
  const t = useTexts();
  const client = useQueryClient();
  const form = useForm({ name: "", email: "", password: "" }, async ({ name, email, password }) => {
    const body = name.trim() === "" ? { email, password } : { email, password, name };
    const { user } = await take(POST("/api/v1/signup", { body }));
    entered(client, user, false);
    forgive();
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
      <Sheet form={form} action={t.auth.signup.action}>
        <Email form={form} />
        <Password
          form={form}
          field="password"
          label={t.auth.password}
          description={t.auth.passwordHelp}
          autoComplete="new-password"
          minLength={8}
          required
          size="md"
        />
        <TextInput {...text(form, "name")} label={t.auth.signup.name} autoComplete="name" size="md" />
      </Sheet>
    </Frame>
  );
}
