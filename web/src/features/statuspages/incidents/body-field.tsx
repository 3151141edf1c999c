/** The text of an update, as visitors read it beside it, and in the other languages of the pages that show it. */
import { Textarea } from "@mantine/core";
import type { StatuspageLanguage } from "../../../shared/api/closed-sets";
import type { Statuspage } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import { RenderedText } from "../rendered-text";
import { translated, type Translations } from "../translation-values";
import styles from "./incidents.module.css";

const MAX_BODY = 10_000;

interface Props {
  value: string;
  error: string | undefined;
  change: (text: string) => void;
  label?: string;
  help?: string;
  maxLength?: number;
  rows?: number;
}

/** A text with its Markdown rendered beside it, or below it where there is no room. */
export function BodyField({ value, error, change, label, help, maxLength = MAX_BODY, rows = 4 }: Props) {
  const { incidents: texts } = useTexts();
  return (
    <div className={styles.written}>
      <Textarea
        name="body"
        label={label ?? texts.body}
        description={help ?? texts.bodyHelp}
        rows={rows}
        autosize
        maxRows={16}
        maxLength={maxLength}
        value={value}
        error={error}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      {value.trim() !== "" && (
        <section className={styles.rendered} aria-label={texts.rendered}>
          <p className={styles.quiet}>{texts.rendered}</p>
          <RenderedText text={value} />
        </section>
      )}
    </div>
  );
}

/** The languages in which the pages of an incident are shown, besides their own. */
export function otherLanguages(
  pages: readonly Statuspage[],
  pageids: readonly string[],
  componentids: readonly string[],
): StatuspageLanguage[] {
  const shown = pages.filter(
    ({ pageid, sections }) =>
      pageids.includes(pageid) ||
      sections.some(({ components }) => components.some(({ componentid }) => componentids.includes(componentid))),
  );
  const own = new Set(shown.map(({ language }) => language));
  return [...new Set(shown.flatMap(({ languages }) => languages))].filter((language) => !own.has(language));
}

interface TranslationProps {
  languages: readonly StatuspageLanguage[];
  /** The fields with the label of each, and where their translations are. */
  fields: readonly { field: string; label: string; texts: Translations; change: (texts: Translations) => void }[];
}

export function TextTranslations({ languages, fields }: TranslationProps) {
  const { statuspages } = useTexts();
  if (languages.length === 0) return null;
  return (
    <details className={styles.translations}>
      <summary>{statuspages.translations.title}</summary>
      {languages.map((language) =>
        fields.map(({ field, label, texts, change }) => (
          <Textarea
            key={`${language} ${field}`}
            label={statuspages.translations.fieldOf(statuspages.appearance.languages[language], label)}
            lang={language}
            dir={language === "ar" ? "rtl" : undefined}
            rows={field === "body" ? 3 : 1}
            autosize
            maxRows={12}
            maxLength={field === "body" ? MAX_BODY : 255}
            value={texts[language]?.[field] ?? ""}
            onChange={({ currentTarget }) => change(translated(texts, language, field, currentTarget.value))}
          />
        )),
      )}
    </details>
  );
}
