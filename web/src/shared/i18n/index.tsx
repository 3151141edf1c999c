/**
 * The texts of the web app in the reader's language. `en.ts` is the original and
 * defines the keys. Only the selected language is loaded.
 */
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Texts } from "./en";

export type { Texts };
export type Language = "en" | "de";

/** Each shows its texts as soon as they are loaded, and adds the messages of the service, which the first screen does not need. */
const loaders: Record<Language, (show: (texts: Texts) => void) => Promise<void>> = {
  en: async (show) => {
    const { en } = await import("./en");
    show(en);
    show({ ...en, service: (await import("./service.en")).service });
  },
  de: async (show) => {
    const { de } = await import("./de");
    show(de);
    show({ ...de, service: (await import("./service.de")).service });
  },
};

const LOAD_RETRY_DELAY = 2_000;

const STORAGE_KEY = "wakeful.language";

interface I18n {
  language: Language;
  /** The regional variant for times, dates and numbers: en-GB, de-AT. */
  locale: string;
  texts: Texts;
  setLanguage: (language: Language) => void;
}

const Context = createContext<I18n | null>(null);

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

export function TextProvider({ children }: { children: ReactNode }) {
  const [language, setLanguageState] = useState<Language>(() => preferred(localStorage.getItem(STORAGE_KEY), navigator.languages));
  const [loaded, setLoaded] = useState<{ language: Language; texts: Texts } | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    const show = (texts: Texts) => {
      if (!current) return;
      document.documentElement.lang = language;
      document.getElementById("boot")?.remove();
      setLoaded({ language, texts });
    };
    const load = () => {
      loaders[language](show).catch(() => {
        if (current) timer = setTimeout(load, LOAD_RETRY_DELAY);
      });
    };
    load();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [language]);
  const setLanguage = useCallback((next: Language) => {
    localStorage.setItem(STORAGE_KEY, next);
    setLanguageState(next);
  }, []);
  const i18n = useMemo(
    () => loaded && { ...loaded, locale: localeOf(loaded.language, navigator.languages), setLanguage },
    [loaded, setLanguage],
  );
  // Renders nothing until the first language is loaded; after a switch, the previous one stays until the next is ready.
  return i18n && <Context value={i18n}>{children}</Context>;
}

export function useTexts(): Texts {
  return useLanguage().texts;
}

export function useLanguage(): I18n {
  const i18n = use(Context);
  if (!i18n) throw new Error("useLanguage must be used inside TextProvider");
  return i18n;
}
