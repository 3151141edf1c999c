/** Moving between the tiles of the gallery. */

/** The tile that a key moves to, -1 for the search field, or null if the key does not move. */
export function moved(key: string, index: number, columns: number, count: number): number | null {
  switch (key) {
    case "ArrowRight":
      return Math.min(index + 1, count - 1);
    case "ArrowLeft":
      return Math.max(index - 1, 0);
    case "ArrowDown":
      return Math.min(index + columns, count - 1);
    case "ArrowUp":
      return index < columns ? -1 : index - columns;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
