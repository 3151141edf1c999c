/** Keyword: a page responds and contains a text. */
import { TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import { text, type Form } from "../../../shared/ui/form";
import { http, HttpFields, requestOf, Url, type HttpValues } from "./http";
import type { TypeForm } from "./type-form";

export const httpKeyword: TypeForm<HttpValues> = {
  ...http,
  bodyOf: (values) => ({ http: requestOf(values, "http_keyword") }),
  Target,
  Advanced: HttpFields,
};

function Target({ form }: { form: Form<HttpValues> }) {
  const t = useTexts();
  return (
    <>
      <Url form={form} />
      <TextInput {...text(form, "http.keyword")} label={t.form.keyword} description={t.form.keywordHelp} />
    </>
  );
}
