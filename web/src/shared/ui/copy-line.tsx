/** Text with a button that copies it: a URL, a key, a command. */
import { useEffect, useRef, useState, type RefObject } from "react";
import { useTexts } from "../i18n";
import { copy } from "../lib/copy";
import styles from "./copy-line.module.css";
import { Check, Copy } from "./icons";
import { showToast } from "./toast";

interface CopyState<E> {
  /** Attach to the element that shows the text; it is selected where scripts cannot copy. */
  shown: RefObject<E | null>;
  copied: boolean;
  copy: () => void;
}

export function useCopy<E extends HTMLElement>(text: string): CopyState<E> {
  const t = useTexts();
  const shown = useRef<E>(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const take = async () => {
    if (!shown.current) return;
    const done = await copy(text, shown.current);
    setCopied(done);
    if (!done) showToast(t.common.copyManually, true);
  };
  return { shown, copied, copy: () => void take() };
}

export function CopyLine({ label, value, wrap = false }: { label: string; value: string; wrap?: boolean }) {
  const t = useTexts();
  const { shown, copied, copy } = useCopy<HTMLElement>(value);
  return (
    <div className={styles.copyLine}>
      <span className={styles.copyLabel}>{label}</span>
      <div className={styles.copyBox}>
        <code ref={shown} className={styles.copyValue} data-wrap={wrap || undefined} tabIndex={0} aria-label={label} role="group">
          {value}
        </code>
        <button type="button" className={styles.copyButton} onClick={copy}>
          {copied ? <Check /> : <Copy />}
          <span>{copied ? t.common.copied : t.common.copy}</span>
          <span className="sr-only">: {label}</span>
        </button>
      </div>
    </div>
  );
}
