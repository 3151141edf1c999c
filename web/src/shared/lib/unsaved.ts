/** Keeps track of open forms with unsaved changes. */
const forms = new Set<() => boolean>();

/** Registers a form; returns a function that removes it again. */
export function trackUnsaved(changed: () => boolean): () => void {
  forms.add(changed);
  return () => forms.delete(changed);
}

export function isUnsaved(): boolean {
  return [...forms].some((changed) => changed());
}
