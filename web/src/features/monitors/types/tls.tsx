/** TLS: a handshake completes, and the certificate is trusted. */
import { Select, Switch, TextInput } from "@mantine/core";
import { valuesOfSet, type StarttlsProtocol } from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import { certificateOf, ClientCertificate, holderOf, type CertificateValues } from "./client-certificate";
import { choice, Host } from "./fields";
import type { TypeForm } from "./type-form";

interface TlsValues extends CertificateValues<"tls"> {
  hostname: string;
  port: string;
  "tls.server_name": string;
  "tls.starttls": StarttlsProtocol;
  "tls.ignore_tls_error": boolean;
  "tls.certificate_expiry_notification": boolean;
}

const protocols = valuesOfSet<StarttlsProtocol>({
  none: true,
  smtp: true,
  imap: true,
  pop3: true,
  postgresql: true,
  mysql: true,
  ldap: true,
});

export const tls: TypeForm<TlsValues> = {
  defaults: {
    hostname: "",
    port: "",
    "tls.server_name": "",
    "tls.starttls": "none",
    "tls.ignore_tls_error": false,
    "tls.certificate_expiry_notification": true,
    "tls.client_certificate": "",
    "tls.client_key": "",
    "tls.stored_certificate": "",
    "tls.removes_certificate": false,
  },
  valuesOf: ({ hostname, port, tls }) => ({
    hostname: hostname ?? "",
    port: port ?? "",
    ...(tls && {
      "tls.server_name": tls.server_name,
      "tls.starttls": tls.starttls,
      "tls.ignore_tls_error": tls.ignore_tls_error,
      "tls.certificate_expiry_notification": tls.certificate_expiry_notification,
      "tls.stored_certificate": holderOf(tls.client_certificate),
    }),
  }),
  bodyOf: (values) => ({
    hostname: values.hostname.trim(),
    // An empty one is 443.
    port: values.port.trim(),
    tls: {
      server_name: values["tls.server_name"].trim(),
      starttls: values["tls.starttls"],
      ignore_tls_error: values["tls.ignore_tls_error"],
      certificate_expiry_notification: values["tls.certificate_expiry_notification"],
      ...certificateOf({
        certificate: values["tls.client_certificate"],
        key: values["tls.client_key"],
        removes: values["tls.removes_certificate"],
      }),
    },
  }),
  suggestedName: ({ hostname, port }) => (port === "" ? hostname : `${hostname}:${port}`),
  labels: (t) => ({
    hostname: t.form.host,
    port: t.form.port,
    "tls.server_name": t.form.serverName,
    "tls.starttls": t.form.starttls,
    "tls.ignore_tls_error": t.form.ignoreTls,
    "tls.certificate_expiry_notification": t.form.certificate,
    "tls.client_certificate": t.form.clientCertificate,
    "tls.client_key": t.form.clientKey,
    "tls.removes_certificate": t.form.removeCertificate,
  }),
  connects: true,
  Target,
  Advanced,
  advanced: ["tls.server_name", "tls.ignore_tls_error", "tls.client_certificate", "tls.client_key"],
};

function Target({ form }: { form: Form<TlsValues> }) {
  const t = useTexts();
  return (
    <>
      <FieldPair wide>
        <Host form={form} help={t.form.hostHelp} />
        <TextInput {...text(form, "port")} label={t.form.port} description={t.form.tlsPortHelp} placeholder="443" inputMode="numeric" />
      </FieldPair>
      <Select
        {...choice(form, "tls.starttls", protocols)}
        label={t.form.starttls}
        description={t.form.starttlsHelp}
        data={protocols.map((value) => ({ value, label: t.form.starttlsProtocols[value] }))}
      />
    </>
  );
}

function Advanced({ form }: { form: Form<TlsValues> }) {
  const t = useTexts();
  return (
    <>
      <TextInput {...text(form, "tls.server_name")} label={t.form.serverName} description={t.form.serverNameHelp} />
      <ClientCertificate form={form} of="tls" />
      <Switch {...flag(form, "tls.certificate_expiry_notification")} label={t.form.certificate} description={t.form.certificateHelp} />
      <Switch {...flag(form, "tls.ignore_tls_error")} label={t.form.ignoreTls} description={t.form.ignoreTlsHelp} />
    </>
  );
}
