/** Dark or light: what the system says, unless the reader chose. */
import { useCallback, useSyncExternalStore } from "react";

export type Choice = "system" | "light" | "dark";

const STORED = "wakeful.scheme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  dark.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    dark.removeEventListener("change", listener);
  };
}

function choice(): Choice {
  const stored = localStorage.getItem(STORED);
  return stored === "light" || stored === "dark" ? stored : "system";
}

function scheme(): "light" | "dark" {
  const chosen = choice();
  return chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}

export function useScheme() {
  const chosen = useSyncExternalStore(subscribe, choice);
  const shown = useSyncExternalStore(subscribe, scheme);
  const choose = useCallback((next: Choice) => {
    localStorage.setItem(STORED, next);
    for (const listener of listeners) listener();
  }, []);
  return { chosen, shown, choose };
}
