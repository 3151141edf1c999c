/**
 * Recent checks as bars, newest on the right. A failed check is taller as well as
 * red; an unknown result is a dot.
 */
import { memo, useMemo, useState, type PointerEvent } from "react";
import type { HeartbeatStatus } from "../../shared/api/closed-sets";
import { useNow } from "../../shared/lib/now";
import { clock, millis } from "../../shared/lib/time";
import { useFirstTexts, useLanguage } from "../../shared/i18n";
import styles from "./heartbeat-bars.module.css";
import type { Shown } from "./data";

const STEP = 6;
const WIDTH = 4;

interface Props {
  beats: readonly Shown[];
  /** The maximum number of bars. */
  room: number;
  height?: number;
}

/** The height of a bar as a share of the whole; an unknown result is a dot instead. */
const heights: Record<Exclude<HeartbeatStatus, "unknown">, number> = { up: 0.6, down: 1 };

/** The bars of each status as one SVG path: three elements, however many bars. */
export function outlines(beats: readonly Shown[], room: number, height: number): Record<HeartbeatStatus, string> {
  const paths: Record<HeartbeatStatus, string> = { up: "", down: "", unknown: "" };
  const shown = beats.slice(-room);
  shown.forEach((beat, index) => {
    const tall = beat.status === "unknown" ? 4 : Math.round(height * heights[beat.status]);
    const x = (room - shown.length + index) * STEP;
    const y = (height - tall) / 2;
    paths[beat.status] += `M${x} ${y + 1}q0-1 1-1h2q1 0 1 1v${tall - 2}q0 1-1 1h-2q-1 0-1-1z`;
  });
  return paths;
}

export const HeartbeatBars = memo(function HeartbeatBars({ beats, room, height = 20 }: Props) {
  const t = useFirstTexts();
  const paths = useMemo(() => outlines(beats, room, height), [beats, room, height]);
  const [at, setAt] = useState<number | null>(null);
  const width = room * STEP - (STEP - WIDTH);
  const failed = beats.filter((beat) => beat.status === "down").length;
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
        aria-label={t.monitors.barsLabel(beats.length, failed)}
        preserveAspectRatio="none"
      >
        {shown.length < room && <path className={styles.none} d={blanks(room - shown.length, height)} />}
        {paths.up && <path className={styles.up} d={paths.up} />}
        {paths.down && <path className={styles.down} d={paths.down} />}
        {paths.unknown && <path className={styles.unknown} d={paths.unknown} />}
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
      <b>{t.monitors.results[beat.status]}</b>
      <span className="num">
        {clock(Date.parse(beat.at), now, locale)}
        {typeof beat.load_time === "number" && ` · ${millis(beat.load_time, locale)}`}
      </span>
      {beat.message !== "" && <span className={styles.message}>{beat.message}</span>}
    </span>
  );
}
