/** TCP: a port accepts connections. */
import { TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import { text, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import { Host } from "./fields";
import type { TypeForm } from "./type-form";

interface TcpValues {
  hostname: string;
  port: string;
}

export const tcp: TypeForm<TcpValues> = {
  defaults: { hostname: "", port: "" },
  valuesOf: ({ hostname, port }) => ({ hostname: hostname ?? "", port: port ?? "" }),
  bodyOf: ({ hostname, port }) => ({ hostname: hostname.trim(), port }),
  suggestedName: ({ hostname, port }) => (port === "" ? hostname : `${hostname}:${port}`),
  labels: (t) => ({ hostname: t.form.host, port: t.form.port }),
  connects: true,
  Target,
};

function Target({ form }: { form: Form<TcpValues> }) {
  const t = useTexts();
  return (
    <FieldPair wide>
      <Host form={form} help={t.form.hostHelp} />
      <TextInput {...text(form, "port")} label={t.form.port} description={t.form.portHelp} inputMode="numeric" />
    </FieldPair>
  );
}
