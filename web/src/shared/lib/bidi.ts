/**
 * Removes the characters that override the direction of text: in a name, they would
 * reverse what is shown, and everything around it. Hebrew and Arabic need none of them.
 */
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** What is edited rather than shown stays as it is. */
const EDITED = new Set(["template", "body", "headers", "keyword"]);

/** Changes a response of the service in place: the list of monitors is long. */
export function withoutBidiControls<T>(value: T): T {
  if (typeof value === "string") return value.replace(CONTROLS, "") as T;
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    if (!EDITED.has(key)) fields[key] = withoutBidiControls(fields[key]);
  }
  return value;
}
