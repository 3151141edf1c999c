/** The color scheme as components use it. */
import { useCallback, useSyncExternalStore } from "react";
import { applyScheme, choice, onSystemChange, scheme, storeChoice, type Choice } from "./color-scheme";

export type { Choice };

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Updates the document before notifying listeners, which read the colors from it. */
function change() {
  applyScheme();
  for (const listener of listeners) listener();
}

onSystemChange(change);

export function useScheme() {
  const chosen = useSyncExternalStore(subscribe, choice);
  const shown = useSyncExternalStore(subscribe, scheme);
  const choose = useCallback((next: Choice) => {
    storeChoice(next);
    change();
  }, []);
  return { chosen, shown, choose };
}
