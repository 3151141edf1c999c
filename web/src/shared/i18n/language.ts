/** The language of the texts: the user's choice, or that of the browser. */
import { readStored, store } from "../lib/storage";

export type Language = "en" | "de";

const STORAGE_KEY = "wakeful.language";

export function chosen(): Language {
  return preferred(readStored(STORAGE_KEY), navigator.languages);
}

export function storeChoice(language: Language): void {
  store(STORAGE_KEY, language);
}

export function preferred(stored: string | null, browser: readonly string[]): Language {
  const known = (tag: string): tag is Language => tag === "en" || tag === "de";
  if (stored !== null && known(stored)) return stored;
  return browser.map((tag) => tag.slice(0, 2).toLowerCase()).find(known) ?? "en";
}

/** The language in the reader's region: that of the browser's variant of it, otherwise of its first language with a region. */
export function localeOf(language: Language, browser: readonly string[]): string {
  const regions = browser.map((tag) => /^(\w+)(?:-\w{4})?-(\w{2}|\d{3})$/.exec(tag)).filter((match) => match !== null);
  const [, , region] = regions.find(([, spoken]) => spoken === language) ?? regions[0] ?? [];
  return region === undefined ? language : `${language}-${region}`;
}
