/** Finding a kind in the gallery, and moving between the tiles. */

interface Described {
  kind: string;
  name: string;
  about: string;
}

/** Those with all the words, in any order; those whose name begins with the query come first. */
export function searchKinds<K extends Described>(kinds: readonly K[], query: string): readonly K[] {
  const plain = normalized(query);
  const words = plain.split(/\s+/).filter((word) => word !== "");
  const found = kinds.filter(({ kind, name, about }) => {
    const text = normalized(`${name} ${kind} ${about}`);
    return words.every((word) => text.includes(word));
  });
  if (words.length === 0) return found;
  const rank = ({ name }: K) => (normalized(name).startsWith(plain) ? 0 : normalized(name).includes(plain) ? 1 : 2);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** Without case and accents. */
function normalized(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().trim();
}

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
