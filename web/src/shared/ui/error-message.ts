/** The message of an error: our text if we have one for its code, else what the service says about the first invalid field, or its message. */
import type { ErrorCode } from "../api/closed-sets";
import { ApiError, Offline, UNKNOWN_CODE } from "../api/error";
import { useTexts, type FirstTexts, type Texts } from "../i18n";
import { translate } from "../i18n/service";

/** Whether the service itself describes the error. The texts for that are not among those of the first screen. */
export function isFromService(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code !== UNKNOWN_CODE;
}

/** The message of any other error. */
export function ownMessage({ errors }: FirstTexts, error: unknown): string {
  if (error instanceof Offline) return errors.offline;
  return error instanceof ApiError ? errors.httpStatus(error.status) : errors.unexpected;
}

export function errorMessage(texts: Texts, error: unknown): string {
  if (!isFromService(error)) return ownMessage(texts, error);
  const [field] = Object.values(error.fields);
  return texts.service.codes[error.code as ErrorCode] ?? translate(field ?? error.message, texts.service);
}

export function useErrorMessage(): (error: unknown) => string {
  const texts = useTexts();
  return (error) => errorMessage(texts, error);
}
