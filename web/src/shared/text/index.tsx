/**
 * The page's words in the reader's language. `en.ts` is the original and sets
 * the keys. Nobody reads two languages at once: only the wanted one is loaded.
 */
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Texts } from "./en";

export type { Texts };
export type Language = "en" | "de";

const loaders: Record<Language, () => Promise<Texts>> = {
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
};

/** How long after words could not be loaded they are asked for again. */
const AGAIN = 2_000;

const STORED = "wakeful.language";

interface Spoken {
  language: Language;
  /** The language as it is spoken where the reader lives, for times and dates: en-GB, de-AT. */
  locale: string;
  texts: Texts;
  speak: (language: Language) => void;
}

const Context = createContext<Spoken | null>(null);

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
  const [loaded, setLoaded] = useState<{ language: Language; texts: Texts } | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wanted = true;
    const load = () => {
      loaders[language]().then(
        (texts) => {
          if (!wanted) return;
          document.documentElement.lang = language;
          setLoaded({ language, texts });
        },
        () => {
          if (wanted) timer = setTimeout(load, AGAIN);
        },
      );
    };
    load();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [language]);
  const speak = useCallback((next: Language) => {
    localStorage.setItem(STORED, next);
    setLanguage(next);
  }, []);
  const spoken = useMemo(() => loaded && { ...loaded, locale: localeOf(loaded.language, navigator.languages), speak }, [loaded, speak]);
  // At first a moment of nothing is better than a flash of the wrong language; later the one before stays until the other is there.
  return spoken && <Context value={spoken}>{children}</Context>;
}

export function useTexts(): Texts {
  return useLanguage().texts;
}

export function useLanguage(): Spoken {
  const spoken = use(Context);
  if (!spoken) throw new Error("there are no words outside of TextProvider");
  return spoken;
}
