/** Which lines of a long list are in or near the window. Their heights are known without measuring them. */
import { useSyncExternalStore } from "react";

/** Lines that are rendered beyond each end of the window. */
const OVERSCAN = 8;

/** The top of every line, and at the end the height of all of them. */
export function topsOf(heights: readonly number[]): number[] {
  const tops = [0];
  for (const height of heights) tops.push((tops.at(-1) ?? 0) + height);
  return tops;
}

/** The index of the line at `y`; the first or the last one if there is none. */
export function lineAt(tops: readonly number[], y: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The indices of the lines to render, in a list that begins at `start` in the document. */
export function useVisibleLines(tops: readonly number[], start: number): number[] {
  const first = useSyncExternalStore(onScroll, () => lineAt(tops, window.scrollY - start));
  const last = useSyncExternalStore(onScroll, () => lineAt(tops, window.scrollY - start + window.innerHeight));
  const from = Math.max(0, first - OVERSCAN);
  const to = Math.min(tops.length - 1, last + OVERSCAN + 1);
  return Array.from({ length: to - from }, (_, offset) => from + offset);
}

function onScroll(changed: () => void): () => void {
  window.addEventListener("scroll", changed, { passive: true });
  window.addEventListener("resize", changed);
  return () => {
    window.removeEventListener("scroll", changed);
    window.removeEventListener("resize", changed);
  };
}

/** Scrolls as little as necessary to show what is between two positions in the document. */
export function reveal(top: number, bottom: number): void {
  const height = window.innerHeight;
  if (top < window.scrollY) window.scrollTo(0, top);
  else if (bottom > window.scrollY + height) window.scrollTo(0, bottom - height);
}
