/** Texts that are not part of the first screen; components that use them suspend until they are loaded. */
import { use } from "react";
import { useLanguage, type Language } from "./index";
import type { ExtraTexts } from "./extra.en";

const loaders: Record<Language, () => Promise<ExtraTexts>> = {
  en: async () => (await import("./extra.en")).extra,
  de: async () => (await import("./extra.de")).extra,
};

const loading = new Map<Language, Promise<ExtraTexts>>();

function load(language: Language): Promise<ExtraTexts> {
  const known = loading.get(language);
  if (known) return known;
  const promise = loaders[language]();
  loading.set(language, promise);
  // The next component that needs them tries again.
  promise.catch(() => loading.delete(language));
  return promise;
}

export function useExtraTexts(): ExtraTexts {
  return use(load(useLanguage().language));
}
