/** How large tiles can be so that all of them fit on the screen. */
export interface Size {
  columns: number;
  width: number;
  height: number;
}

/** Tiles are about this many times as wide as high, which suits a name on one line. */
const RATIO = 3;

/** The number of columns that gives the largest tiles. */
export function fit(count: number, width: number, height: number): Size {
  let best: Size = { columns: 1, width, height: height / Math.max(1, count) };
  for (let columns = 2; columns <= count; columns++) {
    const size = { columns, width: width / columns, height: height / Math.ceil(count / columns) };
    if (usable(size) > usable(best)) best = size;
  }
  return best;
}

function usable({ width, height }: Size): number {
  return Math.min(width, height * RATIO);
}

const MIN_TEXT = 9;
const MAX_TEXT = 56;

/** The size of the text in a tile, in pixels: two lines, and about sixteen characters in each. */
export function textSize({ width, height }: Size): number {
  return Math.round(Math.max(MIN_TEXT, Math.min(MAX_TEXT, width / 11, height / 3.4)));
}
