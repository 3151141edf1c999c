/** Words of any length, of which the first lines show until more are asked for. */
import { useState } from "react";
import { useTexts } from "../i18n";
import styles from "./expandable-text.module.css";

/** Fewer characters than this do not fill the lines anywhere but on a phone. */
const MANY = 180;

export function ExpandableText({ text }: { text: string }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  if (text.length <= MANY) return text;
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
