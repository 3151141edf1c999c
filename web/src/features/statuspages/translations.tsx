/** The texts of a page in its other languages. */
import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTexts } from "../../shared/i18n";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import type { PageForm } from "./edit";
import styles from "./statuspages.module.css";
import { translated, type Translations } from "./translation-values";
import type { Values } from "./values";

type Language = Values["language"];

export function TranslationFields({ form }: { form: PageForm }) {
  const { statuspages: texts } = useTexts();
  const { values } = form;
  const languages = values.languages.filter((one) => one !== values.language);
  const [chosen, choose] = useState<Language | null>(null);
  const language = languages.find((one) => one === chosen) ?? languages[0];
  if (language === undefined) return null;
  const { sections } = values;
  const setSection = (key: string, part: Partial<Values["sections"][number]>) =>
    form.set(
      "sections",
      sections.map((one) => (one.key === key ? { ...one, ...part } : one)),
    );
  return (
    <Panel title={texts.translations.title} lead={texts.translations.lead}>
      <div className={page.fields}>
        {languages.length > 1 && (
          <div className={styles.parts}>
            <SegmentedControl
              label={texts.appearance.language}
              choices={languages.map((one) => [one, texts.appearance.languages[one]] as const)}
              chosen={language}
              choose={choose}
            />
          </div>
        )}
        <Group
          about={texts.translations.page}
          of={values}
          fields={["name", "description", "footer"]}
          language={language}
          change={(next) => form.set("texts", next)}
        />
        {sections.map((section, place) => (
          <div key={section.key} className={page.fields}>
            <Group
              about={section.name || texts.section(place + 1)}
              of={section}
              fields={["name", "description"]}
              language={language}
              change={(next) => setSection(section.key, { texts: next })}
            />
            {section.components.map((component, index) => (
              <Group
                key={component.key}
                about={component.name || texts.component(index + 1)}
                of={component}
                fields={["name", "description"]}
                language={language}
                change={(next) =>
                  setSection(section.key, {
                    components: section.components.map((one) => (one.key === component.key ? { ...one, texts: next } : one)),
                  })
                }
              />
            ))}
          </div>
        ))}
      </div>
    </Panel>
  );
}

interface GroupProps<F extends string> {
  about: string;
  /** The texts in the language of the page; a text that is empty needs no translation. */
  of: Record<F, string> & { texts: Translations };
  fields: readonly F[];
  language: Language;
  change: (texts: Translations) => void;
}

function Group<F extends string>({ about, of, fields, language, change }: GroupProps<F>) {
  const { statuspages } = useTexts();
  const { fields: names, fieldOf } = statuspages.translations;
  return fields
    .filter((field) => of[field].trim() !== "")
    .map((field) => {
      const Field = field === "name" ? TextInput : Textarea;
      return (
        <Field
          key={field}
          label={fieldOf(about, names[field as keyof typeof names])}
          description={of[field].length > MAX_SHOWN ? `${of[field].slice(0, MAX_SHOWN)}…` : of[field]}
          lang={language}
          dir={language === "ar" ? "rtl" : undefined}
          maxLength={MAX_LENGTHS[field]}
          autoComplete="off"
          value={of.texts[language]?.[field] ?? ""}
          onChange={({ currentTarget }: { currentTarget: { value: string } }) =>
            change(translated(of.texts, language, field, currentTarget.value))
          }
        />
      );
    });
}

/** As those of the originals. */
const MAX_LENGTHS: Record<string, number> = { name: 255, description: 2000, footer: 1000 };

/** How much of the original is shown. */
const MAX_SHOWN = 200;
