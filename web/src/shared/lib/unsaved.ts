/** The open forms that would lose what was typed into them. */
const forms = new Set<() => boolean>();

/** Counts a form in; answers how to count it out. */
export function trackUnsaved(changed: () => boolean): () => void {
  forms.add(changed);
  return () => forms.delete(changed);
}

export function isUnsaved(): boolean {
  return [...forms].some((changed) => changed());
}
