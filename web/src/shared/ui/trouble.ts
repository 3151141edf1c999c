/** An error in the reader's words: ours where we know the code, else the service's. */
import { ApiError, Offline, UNKNOWN } from "../api/error";
import { useTexts, type Texts } from "../text";
import { told } from "../text/refusals";

export function sentence(texts: Texts, error: unknown): string {
  if (error instanceof Offline) return texts.trouble.offline;
  if (!(error instanceof ApiError)) return texts.trouble.unexpected;
  if (error.code === UNKNOWN) return texts.trouble.answered(error.status);
  return texts.trouble.codes[error.code] ?? told(error.message, texts.refusals);
}

export function useSentence(): (error: unknown) => string {
  const texts = useTexts();
  return (error) => sentence(texts, error);
}
