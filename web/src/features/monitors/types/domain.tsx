/** Domain: the registration of a name has not expired. */
import { Switch, TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { Host } from "./fields";
import type { TypeForm } from "./type-form";

interface DomainValues {
  hostname: string;
  "domain.expiry_notification": boolean;
  "domain.server": string;
}

export const domain: TypeForm<DomainValues> = {
  defaults: { hostname: "", "domain.expiry_notification": true, "domain.server": "" },
  valuesOf: ({ hostname, domain }) => ({
    hostname: hostname ?? "",
    ...(domain && { "domain.expiry_notification": domain.expiry_notification, "domain.server": domain.server }),
  }),
  bodyOf: (values) => ({
    hostname: values.hostname.trim(),
    domain: { expiry_notification: values["domain.expiry_notification"], server: values["domain.server"].trim() },
  }),
  suggestedName: ({ hostname }) => hostname,
  labels: (t) => ({
    hostname: t.form.host,
    "domain.expiry_notification": t.form.domainExpiry,
    "domain.server": t.form.rdapServer,
  }),
  Target,
  Advanced,
  advanced: ["domain.server"],
};

function Target({ form }: { form: Form<DomainValues> }) {
  const t = useTexts();
  return (
    <>
      <Host form={form} help={t.form.domainHelp} />
      <Switch {...flag(form, "domain.expiry_notification")} label={t.form.domainExpiry} description={t.form.domainExpiryHelp} />
    </>
  );
}

function Advanced({ form }: { form: Form<DomainValues> }) {
  const t = useTexts();
  return <TextInput {...text(form, "domain.server")} label={t.form.rdapServer} description={t.form.rdapServerHelp} inputMode="url" />;
}
