/** A list with one item at another place. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const others = items.filter((_, place) => place !== from);
  return [...others.slice(0, to), ...items.slice(from, from + 1), ...others.slice(to)];
}
