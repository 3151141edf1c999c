/**
 * Whether an error means that a page's files could not be loaded. Browsers have
 * no error type for it, only messages: those of Chromium, Firefox and Safari, and
 * Vite's own for a stylesheet.
 */
const messages = /dynamically imported module|importing a module script|unable to preload css/i;

export function isChunkLoadError(error: unknown): boolean {
  return error instanceof Error && messages.test(error.message);
}
