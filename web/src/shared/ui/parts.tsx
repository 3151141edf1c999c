/** The small parts every view is made of. */
import { Button, Loader } from "@mantine/core";
import { useEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { copy } from "../lib/copy";
import { clock, day, exact, millis, ago as since } from "../lib/time";
import { useNow } from "../lib/now";
import { useLanguage, useTexts } from "../i18n";
import { Check, Copy } from "./icons";
import styles from "./parts.module.css";
import { showToast } from "./toast";
import { useErrorMessage } from "./error-message";

/** The browser's title while a view is open. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title === "" || title === "Wakeful" ? "Wakeful" : `${title} · Wakeful`;
  }, [title]);
}

interface PageProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  narrow?: boolean;
  children: ReactNode;
}

export function Page({ title, lead, actions, narrow = false, children }: PageProps) {
  useTitle(title);
  return (
    <div className={styles.page} data-narrow={narrow || undefined}>
      <header className={styles.head}>
        <div className={styles.titles}>
          <h1>{title}</h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  children: ReactNode;
}

export function Panel({ title, lead, actions, flush = false, children }: PanelProps) {
  return (
    <section className={styles.panel}>
      {title !== undefined && (
        <header className={styles.panelHead}>
          <div>
            <h2>{title}</h2>
            {lead !== undefined && <p className={styles.lead}>{lead}</p>}
          </div>
          {actions}
        </header>
      )}
      <div className={flush ? undefined : styles.panelBody}>{children}</div>
    </section>
  );
}

export function Waiting() {
  const t = useTexts();
  return (
    <div className={styles.waiting} role="status">
      <Loader size={20} color="var(--ink-3)" />
      <span className="sr-only">{t.common.loading}</span>
    </div>
  );
}

/** Something could not be shown, and what to do about it. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  return (
    <div className={styles.trouble} role="alert">
      <p>{errorMessage(error)}</p>
      {retry && (
        <Button variant="default" size="xs" onClick={retry}>
          {t.common.retry}
        </Button>
      )}
    </div>
  );
}

/** What went wrong with a form as a whole. */
export function Fault({ text }: { text: string | null }) {
  return text === null ? null : (
    <p className={styles.fault} role="alert">
      {text}
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.emptyTitle}>{title}</p>
      {children}
    </div>
  );
}

interface OlderProps {
  shown: number;
  limit: number;
  /** How many may be shown, from few to many. */
  steps: readonly number[];
  show: (limit: number) => void;
}

/** Below a list that ends before its beginning. */
export function Older({ shown, limit, steps, show }: OlderProps) {
  const t = useTexts();
  const next = steps.find((step) => step > limit);
  if (shown < limit) return null;
  return (
    <p className={styles.older}>
      {next === undefined ? (
        t.common.newest(shown)
      ) : (
        <Button variant="default" size="xs" onClick={() => show(next)}>
          {t.common.older}
        </Button>
      )}
    </p>
  );
}

/** A state in a word. Green, red and yellow are the colours of statuses and mean the same here. */
export function Badge({ tone, children }: { tone: "up" | "down" | "wait" | "rest" | "accent"; children: ReactNode }) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}

interface SegmentsProps<C extends string | number> {
  label: string;
  choices: readonly (readonly [C, string])[];
  chosen: C;
  choose: (choice: C) => void;
}

/** A few choices side by side, one of them made. */
export function Segments<C extends string | number>({ label, choices, chosen, choose }: SegmentsProps<C>) {
  return (
    <div className={styles.segments} role="group" aria-label={label}>
      {choices.map(([choice, word]) => (
        <button key={choice} type="button" aria-pressed={chosen === choice} onClick={() => choose(choice)}>
          {word}
        </button>
      ))}
    </div>
  );
}

interface Copying<E> {
  /** Stands on the element that shows the text: it is marked where a script may not copy. */
  shown: RefObject<E | null>;
  copied: boolean;
  copy: () => void;
}

export function useCopy<E extends HTMLElement>(text: string): Copying<E> {
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
    if (!done) showToast(t.common.copyYourself, true);
  };
  return { shown, copied, copy: () => void take() };
}

/** A line to take away: an address, a key, a command. */
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

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow();
  const { locale, texts } = useLanguage();
  if (!at) return <span>{texts.common.never}</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact(time, locale)} className="num">
      {since(time, now, locale)}
    </time>
  );
}

/** A load time, or a dash where there is none. */
export function Took({ ms }: { ms: number | null | undefined }) {
  const { locale } = useLanguage();
  return typeof ms === "number" ? millis(ms, locale) : "–";
}

/** A day, with the exact time on hover. */
export function Day({ at }: { at: string }) {
  const { locale } = useLanguage();
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact(time, locale)} className="num">
      {day(time, locale)}
    </time>
  );
}

export function Moment({ at }: { at: string }) {
  const now = useNow();
  const { locale } = useLanguage();
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact(time, locale)} className="num">
      {clock(time, now, locale)}
    </time>
  );
}
