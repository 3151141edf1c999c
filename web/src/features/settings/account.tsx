import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { meQuery, useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { FormError } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { ButtonRow, RequiredField, FieldPair, PasswordField } from "../../shared/ui/form-layout";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { VerifyAddress } from "../../shared/ui/verify-address";
import styles from "./settings.module.css";

export function Account() {
  const t = useTexts();
  const [saved, setSaved] = useState(0);
  return (
    <Panel id="account" title={t.settings.account} lead={t.settings.accountLead}>
      <VerifyAddress />
      <AccountForm key={saved} saved={() => setSaved(saved + 1)} />
    </Panel>
  );
}

/** Remounted after saving, so that no password remains in it. */
function AccountForm({ saved }: { saved: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const { email } = useMe();
  const form = useForm(
    { email, password1: "", password2: "" },
    async (values) => {
      const { password1, password2 } = values;
      const body = { email: values.email, ...(password1 !== "" && { password1, password2 }) };
      await unwrap(POST("/api/v1/settings/save", { body }));
      await client.invalidateQueries({ queryKey: meQuery.queryKey });
      showToast(password1 === "" ? t.settings.saved : t.settings.savedPassword);
      saved();
    },
    ({ password1, password2 }) => (password1 === password2 ? {} : { password2: t.auth.passwordMismatch }),
  );
  return (
    <form className={styles.form} onSubmit={form.submit} noValidate>
      <RequiredField form={form} field="email" type="email" label={t.auth.email} autoComplete="username" />
      <FieldPair>
        <PasswordField form={form} field="password1" label={t.auth.newPassword} description={t.settings.keep} autoComplete="new-password" />
        <PasswordField
          form={form}
          field="password2"
          label={t.auth.confirmPassword}
          description={t.settings.others}
          autoComplete="new-password"
        />
      </FieldPair>
      <FormError text={form.fault} />
      <ButtonRow>
        <Button type="submit" loading={form.busy} disabled={!form.dirty}>
          {t.common.save}
        </Button>
      </ButtonRow>
    </form>
  );
}
