/** URLs as people type them. */

/** The scheme that a URL starts with, known or not; `example.com:8080` has a port and no scheme. */
function schemeOf(url: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):(?!\d+([/?#]|$))/i.exec(url)?.[1];
}

export function hasScheme(url: string): boolean {
  return schemeOf(url.trim()) !== undefined;
}

/** Adds https:// to a URL without a scheme. A scheme that is unknown or misspelled stays, and the service rejects it. */
export function withScheme(url: string): string {
  const trimmed = url.trim();
  return trimmed === "" || hasScheme(trimmed) ? trimmed : `https://${trimmed}`;
}

/** The host of a URL, or the URL itself if it is invalid. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
}
