/** Times and durations as elements, formatted for the reader. */
import { useFirstTexts, useLanguage } from "../i18n";
import { useNow } from "../lib/now";
import { ago, clock, day, exact, millis } from "../lib/time";

/** A relative time, with the exact one on hover. */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow();
  const t = useFirstTexts();
  const { locale } = useLanguage();
  if (!at) return <span>{t.common.never}</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact(time, locale)} className="num">
      {ago(time, now, locale)}
    </time>
  );
}

/** A response time, or a dash if there is none. */
export function Milliseconds({ ms }: { ms: number | null | undefined }) {
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

/** The time of day, with the date unless it is today. */
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
