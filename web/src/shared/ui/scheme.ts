/** The color scheme: that of the system, unless the user has chosen one. */
import { useCallback, useSyncExternalStore } from "react";

export type Choice = "system" | "light" | "dark";

const STORAGE_KEY = "wakeful.scheme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function choice(): Choice {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

function scheme(): "light" | "dark" {
  const chosen = choice();
  return chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}

/** Updates the document before notifying listeners, which read the colors from it. */
function change() {
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme());
  for (const listener of listeners) listener();
}

dark.addEventListener("change", change);

export function useScheme() {
  const chosen = useSyncExternalStore(subscribe, choice);
  const shown = useSyncExternalStore(subscribe, scheme);
  const choose = useCallback((next: Choice) => {
    localStorage.setItem(STORAGE_KEY, next);
    change();
  }, []);
  return { chosen, shown, choose };
}
