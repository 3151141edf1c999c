/** An error in the reader's words: ours where we know the code, else the service's. */
import { ApiError, Offline } from "../api/error";
import { useTexts, type Texts } from "../text";

export function sentence(texts: Texts, error: unknown): string {
  if (error instanceof Offline) return texts.trouble.offline;
  if (!(error instanceof ApiError)) return texts.trouble.unexpected;
  const known: Partial<Record<string, string>> = texts.trouble.codes;
  return known[error.code] ?? error.message;
}

export function useSentence(): (error: unknown) => string {
  const texts = useTexts();
  return (error) => sentence(texts, error);
}
