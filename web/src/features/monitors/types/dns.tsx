/** DNS: a name resolves at a server. */
import { Select, TextInput } from "@mantine/core";
import { valuesOfSet, type DnsRecordType } from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import { choice, Host } from "./fields";
import type { TypeForm } from "./type-form";

interface DnsValues {
  hostname: string;
  port: string;
  "dns.resolver_server": string;
  "dns.record_type": DnsRecordType;
}

const recordTypes = valuesOfSet<DnsRecordType>({
  A: true,
  AAAA: true,
  CAA: true,
  CNAME: true,
  MX: true,
  NS: true,
  PTR: true,
  SOA: true,
  SRV: true,
  TXT: true,
});

export const dns: TypeForm<DnsValues> = {
  defaults: { hostname: "", port: "", "dns.resolver_server": "1.1.1.1", "dns.record_type": "A" },
  valuesOf: ({ hostname, port, dns }) => ({
    hostname: hostname ?? "",
    port: port ?? "",
    ...(dns && { "dns.resolver_server": dns.resolver_server, "dns.record_type": dns.record_type }),
  }),
  bodyOf: (values) => ({
    hostname: values.hostname.trim(),
    // An empty one removes it.
    port: values.port.trim(),
    dns: { resolver_server: values["dns.resolver_server"].trim(), record_type: values["dns.record_type"] },
  }),
  suggestedName: ({ hostname }) => hostname,
  labels: (t) => ({
    hostname: t.form.host,
    port: t.form.port,
    "dns.resolver_server": t.form.resolver,
    "dns.record_type": t.form.record,
  }),
  Target,
};

function Target({ form }: { form: Form<DnsValues> }) {
  const t = useTexts();
  return (
    <>
      <FieldPair wide>
        <Host form={form} help={t.form.dnsHelp} />
        <Select
          {...choice(form, "dns.record_type", recordTypes)}
          label={t.form.record}
          description={t.form.recordHelp}
          data={recordTypes}
        />
      </FieldPair>
      <FieldPair wide>
        <TextInput {...text(form, "dns.resolver_server")} label={t.form.resolver} description={t.form.resolverHelp} />
        <TextInput {...text(form, "port")} label={t.form.port} description={t.form.dnsPortHelp} placeholder="53" inputMode="numeric" />
      </FieldPair>
    </>
  );
}
