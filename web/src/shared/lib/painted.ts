/**
 * Resolves after the next frame, so that what was just rendered appears before more work begins. A tab in the
 * background has no frames, and no reader to wait for.
 */
export function painted(): Promise<void> {
  if (document.visibilityState === "hidden") return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
