/**
 * Whether an error means that a view's files could not be loaded. Browsers have
 * no name for it, only sentences: Chromium's, Firefox's and Safari's, and
 * Vite's own when it was the stylesheet.
 */
const sentences = /dynamically imported module|importing a module script|unable to preload css/i;

export function isChunkLoadError(error: unknown): boolean {
  return error instanceof Error && sentences.test(error.message);
}
