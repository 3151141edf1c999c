/** Text of any length, of which only the first lines are shown until it is expanded. */
import { useState } from "react";
import { useTexts } from "../i18n";
import styles from "./expandable-text.module.css";

/** Shorter texts fit, except on phones. */
const MAX_SHORT_LENGTH = 180;

export function ExpandableText({ text }: { text: string }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  if (text.length <= MAX_SHORT_LENGTH) return text;
  return (
    <>
      <span className={styles.words} data-open={open || undefined}>
        {text}
      </span>
      <button type="button" className={styles.more} aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? t.common.less : t.common.more}
      </button>
    </>
  );
}
