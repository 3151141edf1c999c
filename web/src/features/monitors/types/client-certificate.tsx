/** The certificate that checks present to the server, of types that have one. Its key is never shown. */
import { Switch, Textarea } from "@mantine/core";
import type { components } from "../../../shared/api/schema";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import styles from "../edit/edit.module.css";

/**
 * The fields within the settings of the type `P`: PEM, where empty texts leave what is stored unchanged, and whose
 * certificate is stored, empty for none.
 */
export type CertificateValues<P extends string> = Record<`${P}.${"client_certificate" | "client_key" | "stored_certificate"}`, string> &
  Record<`${P}.removes_certificate`, boolean>;

/** Whose certificate is stored; empty for none. */
export function holderOf(stored: components["schemas"]["ClientCertificate"] | null | undefined): string {
  return stored ? stored.subject || stored.fingerprint : "";
}

/** The fields of the request. An empty text removes the stored certificate. */
export function certificateOf(typed: { certificate: string; key: string; removes: boolean }) {
  if (typed.removes) return { client_certificate: "" };
  const [certificate, key] = [typed.certificate.trim(), typed.key.trim()];
  return { ...(certificate !== "" && { client_certificate: certificate }), ...(key !== "" && { client_key: key }) };
}

export function ClientCertificate<P extends "http" | "tls">({ form, of }: { form: Form<CertificateValues<P>>; of: P }) {
  const t = useTexts();
  const stored = form.values[`${of}.stored_certificate`] as string;
  const removes = form.values[`${of}.removes_certificate`] as boolean;
  const pem = { autosize: true, minRows: 2, maxRows: 6, spellCheck: false, autoComplete: "off", classNames: { input: styles.code ?? "" } };
  return (
    <>
      {!removes && (
        <FieldPair>
          <Textarea
            {...text(form, `${of}.client_certificate`)}
            {...pem}
            label={t.form.clientCertificate}
            description={stored === "" ? t.form.clientCertificateHelp : t.form.clientCertificateStored(stored)}
            placeholder="-----BEGIN CERTIFICATE-----"
          />
          <Textarea
            {...text(form, `${of}.client_key`)}
            {...pem}
            label={t.form.clientKey}
            description={t.form.clientKeyHelp}
            placeholder="-----BEGIN PRIVATE KEY-----"
          />
        </FieldPair>
      )}
      {stored !== "" && <Switch {...flag(form, `${of}.removes_certificate`)} label={t.form.removeCertificate} />}
    </>
  );
}
