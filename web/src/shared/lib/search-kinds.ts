/** Finding one of several kinds by its name or description. */

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
