import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { POST, take } from "../../shared/api/client";
import { afterReset } from "../../shared/lib/after-reset";
import { useTexts } from "../../shared/text";
import { useForm } from "../../shared/ui/form";
import { Password, Sheet } from "../../shared/ui/sheet";
import { say } from "../../shared/ui/toast";
import { Email, Frame } from "./frame";

/** The token came behind the `#`, which browsers keep from servers and referrers. */
function mailed(field: "tokenid" | "email"): string {
  return new URLSearchParams(window.location.hash.slice(1)).get(field) ?? "";
}

export function Component() {
  const t = useTexts();
  const navigate = useNavigate();
  const [token] = useState(() => mailed("tokenid"));
  const form = useForm(
    { email: mailed("email"), password1: "", password2: "" },
    async (values) => {
      await take(POST("/api/v1/password/update", { body: { ...values, tokenid: token } }));
      say(t.auth.reset.done);
      await navigate("/login", { replace: true, state: afterReset });
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
      <Sheet form={form} action={t.auth.reset.action}>
        <Email form={form} />
        <Password
          form={form}
          field="password1"
          label={t.auth.newPassword}
          description={t.auth.passwordHelp}
          autoComplete="new-password"
          minLength={8}
          required
          size="md"
        />
        <Password form={form} field="password2" label={t.auth.again} autoComplete="new-password" required size="md" />
      </Sheet>
    </Frame>
  );
}
