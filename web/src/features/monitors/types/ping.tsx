/** Ping: a host answers an ICMP echo request. */
import { NumberInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import type { Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import { Host, number } from "./fields";
import type { TypeForm } from "./type-form";

interface PingValues {
  hostname: string;
  "ping.count": number | "";
  "ping.spacing": number | "";
  "ping.size": number | "";
}

export const ping: TypeForm<PingValues> = {
  // Fewer echoes would not tell a lost one from an outage.
  defaults: { hostname: "", "ping.count": 5, "ping.spacing": 200, "ping.size": 16 },
  valuesOf: ({ hostname, ping: echoes }) => ({
    hostname: hostname ?? "",
    ...(echoes && { "ping.count": echoes.count, "ping.spacing": echoes.spacing, "ping.size": echoes.size }),
  }),
  bodyOf: (values) => ({
    hostname: values.hostname.trim(),
    ping: { count: values["ping.count"] || 1, spacing: values["ping.spacing"] || 200, size: values["ping.size"] || 16 },
  }),
  suggestedName: ({ hostname }) => hostname,
  labels: (t) => ({
    hostname: t.form.host,
    "ping.count": t.form.echoes,
    "ping.spacing": t.form.echoSpacing,
    "ping.size": t.form.echoSize,
  }),
  connects: true,
  Target,
  Advanced,
  advanced: ["ping.count", "ping.spacing", "ping.size"],
};

function Target({ form }: { form: Form<PingValues> }) {
  const t = useTexts();
  return <Host form={form} help={t.form.pingHelp} />;
}

function Advanced({ form }: { form: Form<PingValues> }) {
  const t = useTexts();
  return (
    <>
      <NumberInput {...number(form, "ping.count")} label={t.form.echoes} description={t.form.echoesHelp} />
      <FieldPair>
        <NumberInput {...number(form, "ping.spacing")} label={t.form.echoSpacing} description={t.form.echoSpacingHelp} />
        <NumberInput {...number(form, "ping.size")} label={t.form.echoSize} description={t.form.echoSizeHelp} />
      </FieldPair>
    </>
  );
}
