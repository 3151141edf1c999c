/** Heartbeats as what a chart draws. */
import type { Heartbeat } from "../data";

/** Seconds and load times; a heartbeat without one leaves a gap. */
export function seriesOf(beats: readonly Heartbeat[]): [number[], (number | null)[]] {
  return [
    beats.map((beat) => Date.parse(beat.at) / 1000),
    beats.map((beat) => (beat.status === "up" ? (beat.load_time ?? null) : null)),
  ];
}

/** From when to when it was down, in seconds; null while it lasts. What could not be checked changes nothing. */
export function outages(beats: readonly Heartbeat[]): [number, number | null][] {
  const found: [number, number | null][] = [];
  for (const beat of beats) {
    const last = found.at(-1);
    const open = last?.[1] === null;
    const at = Date.parse(beat.at) / 1000;
    if (beat.status === "down" && !open) found.push([at, null]);
    else if (beat.status === "up" && last && open) last[1] = at;
  }
  return found;
}
