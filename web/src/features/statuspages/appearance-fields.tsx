/** How a page looks, and what it shows. */
import { MultiSelect, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { find, valuesOfSet, type StatuspageLanguage } from "../../shared/api/closed-sets";
import { useTexts } from "../../shared/i18n";
import { flag, text } from "../../shared/ui/form";
import { FieldPair } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { ZoneField } from "../../shared/ui/zone-field";
import type { PageForm } from "./edit";
import styles from "./statuspages.module.css";
import type { Values } from "./values";

const MAX_CSS = 20_000;

const languages = valuesOfSet<StatuspageLanguage>({ en: true, de: true, fr: true, es: true, nl: true, pt: true, ja: true, ar: true });

const schemes = ["auto", "light", "dark"] as const;
const layouts = ["list", "compact"] as const;
const spans = [30, 60, 90] as const;

export function AppearanceFields({ form, warnings }: { form: PageForm; warnings: Partial<Record<string, string>> }) {
  const { statuspages } = useTexts();
  const { appearance: texts } = statuspages;
  const { values, errors } = form;
  const named = languages.map((value) => ({ value, label: texts.languages[value] }));
  return (
    <Panel title={statuspages.partNames.appearance}>
      <div className={page.fields}>
        <FieldPair wide>
          <Select
            name="appearance.scheme"
            label={texts.scheme}
            data={schemes.map((value) => ({ value, label: texts.schemes[value] }))}
            allowDeselect={false}
            value={values["appearance.scheme"]}
            error={errors["appearance.scheme"]}
            onChange={(value) => form.set("appearance.scheme", find(schemes, value) ?? "auto")}
          />
          <Select
            name="appearance.layout"
            label={texts.layout}
            data={layouts.map((value) => ({ value, label: texts.layouts[value] }))}
            allowDeselect={false}
            value={values["appearance.layout"]}
            error={errors["appearance.layout"]}
            onChange={(value) => form.set("appearance.layout", find(layouts, value) ?? "list")}
          />
        </FieldPair>
        <TextInput
          {...text(form, "appearance.accent")}
          className={styles.short}
          label={texts.accent}
          description={warnings["appearance.accent"] ? <span className={styles.warning}>{texts.accentWarning}</span> : texts.accentHelp}
          placeholder="#1d4ed8"
          maxLength={7}
          autoComplete="off"
          spellCheck={false}
        />
        <FieldPair wide>
          <Select
            name="language"
            label={texts.language}
            data={named}
            allowDeselect={false}
            value={values.language}
            error={errors.language}
            onChange={(value) => form.set("language", find(languages, value) ?? values.language)}
          />
          <MultiSelect
            name="languages"
            label={texts.otherLanguages}
            data={named.filter(({ value }) => value !== values.language)}
            hidePickedOptions
            value={values.languages.filter((one) => one !== values.language)}
            error={errors.languages}
            onChange={(value) =>
              form.set(
                "languages",
                value.flatMap((one) => find(languages, one) ?? []),
              )
            }
          />
        </FieldPair>
        <ZoneField form={form} name="timezone" label={texts.zone} help={texts.zoneHelp} />
        <Textarea
          {...text(form, "footer")}
          label={texts.footer}
          description={statuspages.markdown}
          rows={1}
          autosize
          maxRows={6}
          maxLength={1000}
        />
        <Textarea
          {...text(form, "appearance.custom_css")}
          className={styles.code}
          label={texts.css}
          description={texts.cssHelp}
          rows={3}
          autosize
          maxRows={16}
          maxLength={MAX_CSS}
          spellCheck={false}
        />
        <Switch {...flag(form, "appearance.powered_by")} label={texts.poweredBy} />
      </div>
    </Panel>
  );
}

const shown = ["bars", "uptime", "response_times", "certificates", "outages"] as const satisfies readonly (keyof {
  [F in keyof Values as F extends `display.${infer Name}` ? Name : never]: true;
})[];

export function DisplayFields({ form }: { form: PageForm }) {
  const { statuspages } = useTexts();
  const { display: texts } = statuspages;
  return (
    <Panel title={texts.title}>
      <div className={page.fields}>
        <Select
          name="display.history_days"
          className={styles.short}
          label={texts.history}
          data={spans.map((days) => ({ value: String(days), label: texts.days(days) }))}
          allowDeselect={false}
          value={String(form.values["display.history_days"])}
          error={form.errors["display.history_days"]}
          onChange={(value) => value !== null && form.set("display.history_days", Number(value))}
        />
        {shown.map((name) => (
          <Switch key={name} {...flag(form, `display.${name}`)} label={texts[name]} />
        ))}
      </div>
    </Panel>
  );
}
