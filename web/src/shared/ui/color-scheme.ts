/** The color scheme of the document: that of the system, unless the user has chosen one. */
import { readStored, store } from "../lib/storage";

export type Choice = "system" | "light" | "dark";

const STORAGE_KEY = "wakeful.scheme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function choice(): Choice {
  const stored = readStored(STORAGE_KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function storeChoice(next: Choice): void {
  store(STORAGE_KEY, next);
}

export function scheme(): "light" | "dark" {
  const chosen = choice();
  return chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}

/** Gives the document the colors of the scheme. */
export function applyScheme(): void {
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme());
}

/** Calls back when the scheme of the system changes. */
export function onSystemChange(callback: () => void): void {
  dark.addEventListener("change", callback);
}
