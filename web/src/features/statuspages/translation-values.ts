/** Translations of the texts of a page: by language, then by field. Texts that have none are shown in the page's language. */
import type { StatuspageLanguage } from "../../shared/api/closed-sets";

export type Translations = Partial<Record<StatuspageLanguage, Partial<Record<string, string>>>>;

/** The schema does not say what is in such an object. */
export function translationsOf(texts: object): Translations {
  return texts;
}

/** In one order, so that the same translations are equal. */
function entries<T>(of: Partial<Record<string, T>>): [string, T | undefined][] {
  return Object.entries(of).sort(([a], [b]) => a.localeCompare(b));
}

/** The translations with one text changed; without those that are empty, so that a cleared field is no change. */
export function translated(texts: Translations, language: StatuspageLanguage, field: string, text: string): Translations {
  const fields = entries({ ...texts[language], [field]: text }).filter(([, value]) => value !== "");
  const all = entries({ ...texts, [language]: Object.fromEntries(fields) }).filter(([, of]) => Object.keys(of ?? {}).length > 0);
  return Object.fromEntries(all);
}

/** As they are sent; the schema does not say what is in such an object. */
export function sentTexts(texts: Translations): Record<string, never> {
  return texts as Record<string, never>;
}
