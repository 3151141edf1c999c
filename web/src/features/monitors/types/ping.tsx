/** Ping: a host answers an ICMP echo request. */
import { useTexts } from "../../../shared/i18n";
import type { Form } from "../../../shared/ui/form";
import { Host } from "./fields";
import type { TypeForm } from "./type-form";

interface PingValues {
  hostname: string;
}

export const ping: TypeForm<PingValues> = {
  defaults: { hostname: "" },
  valuesOf: ({ hostname }) => ({ hostname: hostname ?? "" }),
  bodyOf: ({ hostname }) => ({ hostname: hostname.trim() }),
  suggestedName: ({ hostname }) => hostname,
  labels: (t) => ({ hostname: t.form.host }),
  Target,
};

function Target({ form }: { form: Form<PingValues> }) {
  const t = useTexts();
  return <Host form={form} help={t.form.pingHelp} />;
}
