/** An error returned by the service; all of them have the same shape. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** What is wrong with which field; only on 422. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, fields: Record<string, string> = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.fields = fields;
  }

  /** The session is over, as opposed to a wrong password on a form. */
  get signedOut(): boolean {
    return this.status === 401 && this.code === "not_authenticated";
  }
}

/** There is no such thing, or it is another team's, which is the same. */
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

/** The code of an answer that is not the service's: somebody between gave it. */
export const UNKNOWN_CODE = "unknown";

/** Reads an error body, whatever stands between us and the service made of it. */
export function parseError(status: number, body: unknown): ApiError {
  const { code, message, errors } = (typeof body === "object" && body !== null ? body : {}) as Body;
  const fields: Record<string, string> = {};
  for (const error of errors ?? []) fields[error.field] ??= sentence(error.message);
  return new ApiError(status, code ?? UNKNOWN_CODE, message ?? `HTTP ${status}`, fields);
}

/** `must be a port` as it stands under a field: `Must be a port.` */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
