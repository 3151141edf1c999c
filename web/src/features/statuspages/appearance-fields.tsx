/** How a page looks, and what it shows. */
import { Button, MultiSelect, NumberInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { find, valuesOfSet, type StatuspageLanguage } from "../../shared/api/closed-sets";
import { useTexts } from "../../shared/i18n";
import { DurationInput } from "../../shared/ui/duration-input";
import { flag, text } from "../../shared/ui/form";
import { FieldPair } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Cross, Plus } from "../../shared/ui/icons";
import { Panel } from "../../shared/ui/page";
import { ZoneField } from "../../shared/ui/zone-field";
import type { PageForm } from "./edit";
import styles from "./statuspages.module.css";
import { MAX_LINKS, type LinkValues, type Values } from "./values";

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
        <LinkFields form={form} />
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

/** The links in the head of the page. */
function LinkFields({ form }: { form: PageForm }) {
  const t = useTexts();
  const { appearance: texts } = t.statuspages;
  const links = form.values["appearance.links"];
  const set = (next: LinkValues[]) => form.set("appearance.links", next);
  const change = (place: number, part: Partial<LinkValues>) => set(links.map((one, at) => (at === place ? { ...one, ...part } : one)));
  return (
    <fieldset className={styles.section}>
      <legend>{texts.links}</legend>
      {links.map((link, place) => (
        // Links have no id; a line is only ever removed, never moved.
        <div key={place} className={styles.link}>
          {(["text", "url"] as const).map((field) => (
            <TextInput
              key={field}
              name={`appearance.links.${place}.${field}`}
              type={field === "url" ? "url" : "text"}
              aria-label={texts.linkField[field](place + 1)}
              placeholder={field === "url" ? "https://example.com" : texts.linkText}
              maxLength={field === "url" ? 2048 : 100}
              autoComplete="off"
              value={link[field]}
              error={form.errors[`appearance.links.${place}.${field}`]}
              onChange={({ currentTarget }) => change(place, { [field]: currentTarget.value })}
            />
          ))}
          <Button
            variant="subtle"
            color="red"
            px={8}
            aria-label={t.statuspages.removeComponent(link.text || texts.linkField.text(place + 1))}
            onClick={() => set(links.filter((_, at) => at !== place))}
          >
            <Cross />
          </Button>
        </div>
      ))}
      {links.length < MAX_LINKS && (
        <div>
          <Button variant="default" size="xs" leftSection={<Plus />} onClick={() => set([...links, { text: "", url: "" }])}>
            {texts.addLink}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

const collapses = ["never", "always", "operational"] as const;

const shown = ["bars", "uptime", "response_times", "certificates", "outages"] as const satisfies readonly (keyof {
  [F in keyof Values as F extends `display.${infer Name}` ? Name : never]: true;
})[];

export function DisplayFields({ form }: { form: PageForm }) {
  const { statuspages } = useTexts();
  const { display: texts } = statuspages;
  return (
    <Panel title={texts.title}>
      <div className={page.fields}>
        <FieldPair wide>
          <Select
            name="display.history_days"
            label={texts.history}
            data={spans.map((days) => ({ value: String(days), label: texts.days(days) }))}
            allowDeselect={false}
            value={String(form.values["display.history_days"])}
            error={form.errors["display.history_days"]}
            onChange={(value) => value !== null && form.set("display.history_days", Number(value))}
          />
          <Count form={form} field="display.incident_days" label={texts.incidentDays} max={30} />
        </FieldPair>
        <FieldPair wide>
          <Select
            name="display.collapsed"
            label={texts.collapsed}
            data={collapses.map((value) => ({ value, label: texts.collapses[value] }))}
            allowDeselect={false}
            value={form.values["display.collapsed"]}
            error={form.errors["display.collapsed"]}
            onChange={(value) => form.set("display.collapsed", find(collapses, value) ?? "never")}
          />
          <Count form={form} field="display.decimals" label={texts.decimals} max={4} />
        </FieldPair>
        <DurationInput
          name="shown_after"
          className={styles.short}
          label={texts.shownAfter}
          description={texts.shownAfterHelp}
          placeholder={texts.atOnce}
          value={form.values.shown_after}
          error={form.errors.shown_after}
          change={(value) => form.set("shown_after", value)}
        />
        {shown.map((name) => (
          <Switch key={name} {...flag(form, `display.${name}`)} label={texts[name]} />
        ))}
      </div>
    </Panel>
  );
}

function Count({
  form,
  field,
  label,
  max,
}: {
  form: PageForm;
  field: "display.decimals" | "display.incident_days";
  label: string;
  max: number;
}) {
  return (
    <NumberInput
      name={field}
      label={label}
      min={0}
      max={max}
      allowDecimal={false}
      allowNegative={false}
      value={form.values[field]}
      error={form.errors[field]}
      onChange={(value) => form.set(field, typeof value === "number" ? value : 0)}
    />
  );
}
