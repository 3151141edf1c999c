/** Short messages about what just happened, announced by screen readers. */
import { useEffect, useSyncExternalStore } from "react";
import { useFirstTexts } from "../i18n";
import { Check, Cross } from "./icons";
import styles from "./toast.module.css";

interface Toast {
  id: number;
  text: string;
  failed: boolean;
}

const DURATION = 6000;
let toasts: readonly Toast[] = [];
let nextId = 0;
const listeners = new Set<() => void>();

function change(to: readonly Toast[]) {
  toasts = to;
  for (const listener of listeners) listener();
}

export function showToast(text: string, failed = false): void {
  change([...toasts.slice(-2), { id: nextId++, text, failed }]);
}

function drop(id: number) {
  change(toasts.filter((toast) => toast.id !== id));
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={styles.stack} role="status" aria-live="polite">
      {shown.map((toast) => (
        <Bubble key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function Bubble({ toast }: { toast: Toast }) {
  const t = useFirstTexts();
  useEffect(() => {
    const timer = setTimeout(() => drop(toast.id), DURATION);
    return () => clearTimeout(timer);
  }, [toast.id]);
  return (
    <div className={styles.bubble} data-failed={toast.failed || undefined}>
      {toast.failed ? <Cross /> : <Check />}
      <span>{toast.text}</span>
      <button type="button" aria-label={t.common.dismiss} onClick={() => drop(toast.id)}>
        <Cross size={14} />
      </button>
    </div>
  );
}
