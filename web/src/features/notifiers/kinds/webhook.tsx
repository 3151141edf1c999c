/** The fields of all webhooks. The kinds differ in the template, and in what the URL looks like. */
import { Textarea, TextInput } from "@mantine/core";
import { useTexts, type Texts } from "../../../shared/i18n";
import { text, type Form } from "../../../shared/ui/form";
import styles from "../notifiers.module.css";
import type { KindForm } from "./kind-form";

export interface WebhookValues {
  "webhook.url": string;
  "webhook.headers": string;
  "webhook.template": string;
}

interface Description {
  /** What the service calls the template; "" for the standard format, none for a custom one. */
  template?: string;
  help: keyof Texts["notifiers"]["urlHelp"];
  placeholder?: string;
  signed?: boolean;
}

const STARTING_TEMPLATE = '{"content": {{ text|tojson }}, "url": {{ link|tojson }}}';

export function webhook({ template, help, placeholder, signed = false }: Description): KindForm<WebhookValues> {
  const custom = template === undefined;
  return {
    type: "webhook",
    signed,
    defaults: { "webhook.url": "", "webhook.headers": "", "webhook.template": STARTING_TEMPLATE },
    valuesOf: ({ webhook }) => ({
      "webhook.url": webhook?.url ?? "",
      "webhook.headers": webhook?.headers ?? "",
      ...(custom && { "webhook.template": webhook?.template ?? "" }),
    }),
    bodyOf: (values) => ({
      webhook: {
        url: values["webhook.url"].trim(),
        headers: values["webhook.headers"],
        template: template ?? values["webhook.template"],
      },
    }),
    suggestedName: (values) => hostOf(values["webhook.url"]),
    Receiver: ({ form }) => (
      <>
        <Url form={form} help={help} placeholder={placeholder ?? "https://example.com/hooks/wakeful"} />
        {custom && <Template form={form} />}
        <Headers form={form} />
      </>
    ),
  };
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

function Url({ form, help, placeholder }: { form: Form<WebhookValues>; help: Description["help"]; placeholder: string }) {
  const t = useTexts();
  return (
    <TextInput
      {...text(form, "webhook.url")}
      label={t.notifiers.url}
      description={t.notifiers.urlHelp[help]}
      placeholder={placeholder}
      inputMode="url"
      autoCapitalize="off"
      spellCheck={false}
      autoFocus={form.values["webhook.url"] === ""}
    />
  );
}

function Template({ form }: { form: Form<WebhookValues> }) {
  const t = useTexts();
  return (
    <Textarea
      {...text(form, "webhook.template")}
      label={t.notifiers.template}
      description={t.notifiers.templateHelp}
      rows={8}
      spellCheck={false}
      classNames={{ input: styles.code ?? "" }}
    />
  );
}

function Headers({ form }: { form: Form<WebhookValues> }) {
  const t = useTexts();
  return (
    <Textarea
      {...text(form, "webhook.headers")}
      label={t.notifiers.headers}
      description={t.form.headersHelp}
      placeholder="Authorization: Bearer …"
      rows={2}
      spellCheck={false}
      classNames={{ input: styles.code ?? "" }}
    />
  );
}
