/**
 * The texts of the web app in the reader's language. `en.ts` is the original and defines the keys.
 * Only the selected language is loaded, and before the first screen only its texts, `first.en.ts`.
 */
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Texts } from "./en";
import type { FirstTexts } from "./first.en";
import { chosen, localeOf, storeChoice, type Language } from "./language";

export type { FirstTexts, Language, Texts };

const firstLoaders: Record<Language, () => Promise<FirstTexts>> = {
  en: async () => (await import("./first.en")).first,
  de: async () => (await import("./first.de")).first,
};

const loaders: Record<Language, () => Promise<Texts>> = {
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
};

const loading = new Map<Language, Promise<Texts>>();
const loaded = new Map<Language, Texts>();

/** Loads all texts, which `useTexts` would otherwise have to wait for. */
export function loadTexts(language: Language = chosen()): Promise<Texts> {
  const known = loading.get(language);
  if (known) return known;
  const promise = loaders[language]();
  loading.set(language, promise);
  promise.then(
    (texts) => loaded.set(language, texts),
    // The next component that needs them tries again.
    () => loading.delete(language),
  );
  return promise;
}

const LOAD_RETRY_DELAY = 2_000;

interface Selected {
  language: Language;
  /** The regional variant for times, dates and numbers: en-GB, de-AT. */
  locale: string;
  setLanguage: (language: Language) => void;
}

interface I18n extends Selected {
  first: FirstTexts;
}

const Context = createContext<I18n | null>(null);

export function TextProvider({ children }: { children: ReactNode }) {
  const [{ language, switched }, select] = useState(() => ({ language: chosen(), switched: false }));
  const [shown, setShown] = useState<Pick<I18n, "language" | "first"> | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    const show = (first: FirstTexts) => {
      if (!current) return;
      document.documentElement.lang = language;
      document.getElementById("boot")?.remove();
      setShown({ language, first });
    };
    // The page on which the language was switched may need all of them.
    const get = switched ? loadTexts : (which: Language) => firstLoaders[which]();
    const load = () => {
      get(language).then(show, () => {
        if (current) timer = setTimeout(load, LOAD_RETRY_DELAY);
      });
    };
    load();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [language, switched]);
  const setLanguage = useCallback((next: Language) => {
    storeChoice(next);
    select({ language: next, switched: true });
  }, []);
  const i18n = useMemo(
    () => shown && { ...shown, locale: localeOf(shown.language, navigator.languages), setLanguage },
    [shown, setLanguage],
  );
  // Renders nothing until the first language is loaded; after a switch, the previous one stays until the next is ready.
  return i18n && <Context value={i18n}>{children}</Context>;
}

/** All texts; waits until they are loaded. */
export function useTexts(): Texts {
  const { language } = useLanguage();
  return loaded.get(language) ?? use(loadTexts(language));
}

/** The texts of the first screen, for what is on it. */
export function useFirstTexts(): FirstTexts {
  return useI18n().first;
}

export function useLanguage(): Selected {
  return useI18n();
}

function useI18n(): I18n {
  const i18n = use(Context);
  if (!i18n) throw new Error("useLanguage must be used inside TextProvider");
  return i18n;
}
