/** Dark or light: what the system says, unless the reader chose. */
import { useCallback, useSyncExternalStore } from "react";

export type Choice = "system" | "light" | "dark";

const STORED = "wakeful.scheme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function choice(): Choice {
  const stored = localStorage.getItem(STORED);
  return stored === "light" || stored === "dark" ? stored : "system";
}

function scheme(): "light" | "dark" {
  const chosen = choice();
  return chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}

/** The colours change before anybody is told: who draws with them reads them from the document. */
function change() {
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme());
  for (const listener of listeners) listener();
}

dark.addEventListener("change", change);

export function useScheme() {
  const chosen = useSyncExternalStore(subscribe, choice);
  const shown = useSyncExternalStore(subscribe, scheme);
  const choose = useCallback((next: Choice) => {
    localStorage.setItem(STORED, next);
    change();
  }, []);
  return { chosen, shown, choose };
}
