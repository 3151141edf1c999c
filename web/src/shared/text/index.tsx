/**
 * The page's words in the reader's language. `en.ts` is the original and sets
 * the keys; other languages are loaded when they are wanted.
 */
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import { en, type Texts } from "./en";

export type { Texts };
export type Language = "en" | "de";

const loaders: Record<Exclude<Language, "en">, () => Promise<Texts>> = {
  de: async () => (await import("./de")).de,
};

const STORED = "wakeful.language";

interface Spoken {
  language: Language;
  /** The language as it is spoken where the reader lives, for times and dates: en-GB, de-AT. */
  locale: string;
  texts: Texts;
  speak: (language: Language) => void;
}

const Context = createContext<Spoken>({ language: "en", locale: "en", texts: en, speak: () => undefined });

export function preferred(stored: string | null, browser: readonly string[]): Language {
  const known = (tag: string): tag is Language => tag === "en" || tag === "de";
  if (stored !== null && known(stored)) return stored;
  return browser.map((tag) => tag.slice(0, 2).toLowerCase()).find(known) ?? "en";
}

export function localeOf(language: Language, browser: readonly string[]): string {
  return browser.find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
}

export function TextProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() =>
    preferred(localStorage.getItem(STORED), navigator.languages),
  );
  const [loaded, setLoaded] = useState<{ language: Language; texts: Texts }>({ language: "en", texts: en });
  useEffect(() => {
    document.documentElement.lang = language;
    if (language === "en") return;
    let wanted = true;
    void loaders[language]().then((texts) => {
      if (wanted) setLoaded({ language, texts });
    });
    return () => {
      wanted = false;
    };
  }, [language]);
  const speak = useCallback((next: Language) => {
    localStorage.setItem(STORED, next);
    setLanguage(next);
  }, []);
  const texts = language === "en" ? en : loaded.language === language ? loaded.texts : null;
  const spoken = useMemo(() => texts && { language, locale: localeOf(language, navigator.languages), texts, speak }, [language, texts, speak]);
  // A moment of nothing is better than a flash of the wrong language.
  return spoken && <Context value={spoken}>{children}</Context>;
}

export function useTexts(): Texts {
  return use(Context).texts;
}

export function useLanguage(): Spoken {
  return use(Context);
}
