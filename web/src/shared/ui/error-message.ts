/** The message of an error: our text if we have one for its code, else what the service says about the first invalid field, or its message. */
import type { ErrorCode } from "../api/closed-sets";
import { ApiError, Offline, UNKNOWN_CODE } from "../api/error";
import { useTexts, type Texts } from "../i18n";
import { translate } from "../i18n/service";

export function errorMessage(texts: Texts, error: unknown): string {
  if (error instanceof Offline) return texts.errors.offline;
  if (!(error instanceof ApiError)) return texts.errors.unexpected;
  if (error.code === UNKNOWN_CODE) return texts.errors.httpStatus(error.status);
  const [field] = Object.values(error.fields);
  return texts.service.codes[error.code as ErrorCode] ?? translate(field ?? error.message, texts.service);
}

export function useErrorMessage(): (error: unknown) => string {
  const texts = useTexts();
  return (error) => errorMessage(texts, error);
}
