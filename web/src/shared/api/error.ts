import type { ErrorCode } from "./closed-sets";

/** An error returned by the service; all of them have the same shape. */
export class ApiError extends Error {
  readonly status: number;
  /** An `ErrorCode`, one of a newer service, or `UNKNOWN_CODE`. */
  readonly code: string;
  /** Messages by field; only on 422. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, fields: Record<string, string> = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.fields = fields;
  }

  has(code: ErrorCode): boolean {
    return this.code === code;
  }

  /** Whether the session has ended, as opposed to a wrong password in a form. */
  get signedOut(): boolean {
    return this.status === 401 && this.has("not_authenticated");
  }
}

/** Whether it does not exist or belongs to another team; the service does not distinguish them. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** The service could not be reached at all. */
export class Offline extends Error {
  constructor() {
    super("offline");
    this.name = "Offline";
  }
}

interface Body {
  code?: string;
  message?: string;
  errors?: { field: string; message: string }[];
}

/** The code of a response that a proxy gave instead of the service. */
export const UNKNOWN_CODE = "unknown";

/** Parses an error body, which may be that of a proxy. */
export function parseError(status: number, body: unknown): ApiError {
  const { code, message, errors } = (typeof body === "object" && body !== null ? body : {}) as Body;
  const fields: Record<string, string> = {};
  for (const error of errors ?? []) fields[error.field] ??= sentence(error.message);
  return new ApiError(status, code ?? UNKNOWN_CODE, message ?? `HTTP ${status}`, fields);
}

/** `must be a port` as shown under a field: `Must be a port.` */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
