/** Email through an SMTP server. */
import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { find, valuesOfSet, type MailSecurity } from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { FieldPair, PasswordField } from "../../../shared/ui/form-layout";
import { Panel } from "../../../shared/ui/page";
import type { Notifier } from "../data";
import styles from "../notifiers.module.css";
import type { KindForm } from "./kind-form";

interface EmailValues {
  "email.hostname": string;
  "email.port": number | "";
  "email.security": MailSecurity;
  "email.ignore_tls_errors": boolean;
  "email.username": string;
  "email.password": string;
  "email.from_email": string;
  "email.to_email": string;
  "email.to_cc": string;
  "email.to_bcc": string;
  "email.subject": string;
}

type EmailForm = Form<EmailValues>;

const securities = valuesOfSet<MailSecurity>({ tls: true, none: true });

export const email: KindForm<EmailValues> = {
  type: "email",
  defaults: {
    "email.hostname": "",
    "email.port": 587,
    "email.security": "tls",
    "email.ignore_tls_errors": false,
    "email.username": "",
    "email.password": "",
    "email.from_email": "",
    "email.to_email": "",
    "email.to_cc": "",
    "email.to_bcc": "",
    "email.subject": "",
  },
  valuesOf,
  bodyOf: (values) => ({
    email: {
      hostname: values["email.hostname"].trim(),
      port: values["email.port"] === "" ? null : values["email.port"],
      security: values["email.security"],
      ignore_tls_errors: values["email.ignore_tls_errors"],
      username: values["email.username"],
      password: values["email.password"],
      from_email: values["email.from_email"].trim(),
      to_email: values["email.to_email"],
      to_cc: values["email.to_cc"],
      to_bcc: values["email.to_bcc"],
      subject: values["email.subject"],
    },
  }),
  suggestedName: (values) => values["email.to_email"].split(",")[0]?.trim() ?? "",
  Receiver: Recipients,
  Server,
};

function valuesOf({ email }: Notifier): Partial<EmailValues> {
  if (!email) return {};
  return {
    "email.hostname": email.hostname,
    "email.port": email.port,
    "email.security": email.security.toLowerCase() === "none" ? "none" : "tls",
    "email.ignore_tls_errors": email.ignore_tls_errors,
    "email.username": email.username,
    "email.password": email.password,
    "email.from_email": email.from_email,
    "email.to_email": email.to_email,
    "email.to_cc": email.to_cc,
    "email.to_bcc": email.to_bcc,
    "email.subject": email.subject,
  };
}

function Recipients({ form }: { form: EmailForm }) {
  const t = useTexts();
  return (
    <>
      <TextInput
        {...text(form, "email.to_email")}
        label={t.notifiers.to}
        description={t.notifiers.toHelp}
        placeholder="ops@example.com, on-call@example.com"
        inputMode="email"
        autoFocus={form.values["email.to_email"] === ""}
      />
      <FieldPair>
        <TextInput {...text(form, "email.to_cc")} label={t.notifiers.cc} inputMode="email" />
        <TextInput {...text(form, "email.to_bcc")} label={t.notifiers.bcc} inputMode="email" />
      </FieldPair>
      <TextInput
        {...text(form, "email.subject")}
        label={t.notifiers.subject}
        description={t.notifiers.subjectHelp}
        placeholder="{{ name }} is {{ status }}"
        spellCheck={false}
      />
    </>
  );
}

function Server({ form }: { form: EmailForm }) {
  const t = useTexts();
  return (
    <Panel title={t.notifiers.server} lead={t.notifiers.serverLead}>
      <div className={styles.fields}>
        <FieldPair wide>
          <TextInput
            {...text(form, "email.hostname")}
            label={t.form.host}
            placeholder="smtp.example.com"
            autoCapitalize="off"
            spellCheck={false}
          />
          <NumberInput
            name="email.port"
            label={t.form.port}
            value={form.values["email.port"]}
            error={form.errors["email.port"]}
            onChange={(value) => form.set("email.port", typeof value === "number" ? value : "")}
            allowDecimal={false}
            allowNegative={false}
            hideControls
          />
        </FieldPair>
        <FieldPair>
          <Select
            name="email.security"
            label={t.notifiers.security}
            description={
              form.values["email.security"] === "none"
                ? t.notifiers.plain
                : form.values["email.port"] === 465
                  ? t.notifiers.implicit
                  : t.notifiers.starttls
            }
            data={securities.map((value) => ({ value, label: t.notifiers.securities[value] }))}
            value={form.values["email.security"]}
            error={form.errors["email.security"]}
            onChange={(word) => {
              const security = find(securities, word);
              if (security !== undefined) form.set("email.security", security);
            }}
            allowDeselect={false}
          />
          <TextInput
            {...text(form, "email.from_email")}
            label={t.notifiers.from}
            description={t.notifiers.fromHelp}
            placeholder="wakeful@example.com"
            inputMode="email"
          />
        </FieldPair>
        <FieldPair>
          <TextInput {...text(form, "email.username")} label={t.form.username} description={t.notifiers.usernameHelp} autoComplete="off" />
          <PasswordField
            form={form}
            field="email.password"
            label={t.auth.password}
            description={t.notifiers.passwordHelp}
            autoComplete="new-password"
          />
        </FieldPair>
        {form.values["email.security"] === "tls" && (
          <Switch {...flag(form, "email.ignore_tls_errors")} label={t.form.ignoreTls} description={t.form.ignoreTlsHelp} />
        )}
      </div>
    </Panel>
  );
}
