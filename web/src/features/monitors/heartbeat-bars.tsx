/**
 * Recent checks as bars, newest on the right. A failed check is taller as well as
 * red; a degraded one is amber and in between; one during maintenance is short and blue; one that could not reach its target
 * through our own path is hatched; an unknown result is a dot.
 */
import { memo, useMemo, useState, type PointerEvent } from "react";
import { useNow } from "../../shared/lib/now";
import { clock, millis } from "../../shared/lib/time";
import { useFirstTexts, useLanguage } from "../../shared/i18n";
import styles from "./heartbeat-bars.module.css";
import { kindOf, type BeatKind, type Shown } from "./data";

const STEP = 6;
const WIDTH = 4;

interface Props {
  beats: readonly Shown[];
  /** The maximum number of bars. */
  room: number;
  height?: number;
}

/** The height of a bar as a share of the whole; an unknown result is a dot. */
const heights: Record<BeatKind, number> = { up: 0.6, degraded: 0.8, down: 1, unknown: 0.2, maintenance: 0.35, unreachable: 1 };

/** The bars of each kind as one SVG path: a few elements, however many bars. */
export function outlines(beats: readonly Shown[], room: number, height: number): Record<BeatKind, string> {
  const paths: Record<BeatKind, string> = { up: "", degraded: "", down: "", unknown: "", maintenance: "", unreachable: "" };
  const shown = beats.slice(-room);
  shown.forEach((beat, index) => {
    const kind = kindOf(beat);
    const tall = Math.round(height * heights[kind]);
    const x = (room - shown.length + index) * STEP;
    const y = (height - tall) / 2;
    if (kind === "unreachable") for (let top = y; top < y + tall; top += 4) paths[kind] += `M${x} ${top + 2}l4-2v2l-4 2z`;
    else paths[kind] += `M${x} ${y + 1}q0-1 1-1h2q1 0 1 1v${tall - 2}q0 1-1 1h-2q-1 0-1-1z`;
  });
  return paths;
}

const kinds = Object.keys(heights) as BeatKind[];

export const HeartbeatBars = memo(function HeartbeatBars({ beats, room, height = 20 }: Props) {
  const t = useFirstTexts();
  const paths = useMemo(() => outlines(beats, room, height), [beats, room, height]);
  const [at, setAt] = useState<number | null>(null);
  const width = room * STEP - (STEP - WIDTH);
  const count = (kind: BeatKind) => beats.filter((beat) => kindOf(beat) === kind).length;
  const point = (event: PointerEvent<HTMLElement>) => {
    // The bars can be narrower than their container.
    const box = (event.currentTarget.firstElementChild ?? event.currentTarget).getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * room);
    setAt(place - (room - Math.min(room, beats.length)));
  };
  const shown = beats.slice(-room);
  const pointed = at === null ? undefined : shown[at];
  return (
    <span className={styles.bars} onPointerMove={point} onPointerLeave={() => setAt(null)}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={t.monitors.barsLabel(beats.length, count("down"), count("maintenance"))}
        preserveAspectRatio="none"
      >
        {shown.length < room && <path className={styles.none} d={blanks(room - shown.length, height)} />}
        {kinds.map((kind) => paths[kind] && <path key={kind} className={styles[kind]} d={paths[kind]} />)}
      </svg>
      {pointed && at !== null && <Tooltip beat={pointed} left={((room - shown.length + at) * STEP + WIDTH / 2) / width} />}
    </span>
  );
});

/** Placeholders for checks to come. */
function blanks(count: number, height: number): string {
  const tall = Math.round(height * 0.6);
  let path = "";
  for (let index = 0; index < count; index++) {
    path += `M${index * STEP} ${(height - tall) / 2}h${WIDTH}v${tall}h-${WIDTH}z`;
  }
  return path;
}

function Tooltip({ beat, left }: { beat: Shown; left: number }) {
  const t = useFirstTexts();
  const now = useNow();
  const { locale } = useLanguage();
  return (
    <span className={styles.tip} style={{ left: `${left * 100}%` }} data-side={left > 0.6 ? "left" : left < 0.2 ? "right" : undefined}>
      <b>{t.monitors.results[kindOf(beat)]}</b>
      <span className="num">
        {clock(Date.parse(beat.at), now, locale)}
        {typeof beat.load_time === "number" && ` · ${millis(beat.load_time, locale)}`}
      </span>
      {beat.message !== "" && <span className={styles.message}>{beat.message}</span>}
    </span>
  );
}
