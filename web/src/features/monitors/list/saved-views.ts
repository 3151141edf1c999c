/** Named filters of the list. They are stored in the browser, separately for each account. */
import { useCallback, useSyncExternalStore } from "react";
import { useMe } from "../../../shared/api/session";

export interface SavedView {
  name: string;
  /** The query string of the list. */
  search: string;
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  // Another tab may change them too.
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** Ignores whatever is not a list of views. */
export function parseViews(stored: string | null): SavedView[] {
  try {
    const parsed: unknown = JSON.parse(stored ?? "[]");
    return Array.isArray(parsed) ? parsed.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== "object" || value === null) return false;
  const { name, search } = value as Partial<Record<keyof SavedView, unknown>>;
  return typeof name === "string" && typeof search === "string";
}

/** A view with the same name is replaced. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...views.filter(({ name }) => name !== view.name), view].sort((a, b) => a.name.localeCompare(b.name));
}

export function useSavedViews() {
  const key = `wakeful.views.${useMe().userid}`;
  const stored = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  const store = useCallback(
    (change: (old: SavedView[]) => SavedView[]) => {
      localStorage.setItem(key, JSON.stringify(change(parseViews(localStorage.getItem(key)))));
      for (const listener of listeners) listener();
    },
    [key],
  );
  return {
    views: parseViews(stored),
    saveView: (view: SavedView) => store((old) => withView(old, view)),
    removeView: (removed: string) => store((old) => old.filter(({ name }) => name !== removed)),
  };
}
