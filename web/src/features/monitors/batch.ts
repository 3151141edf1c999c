/** Combines many single requests into few batches. */
const BATCH_DELAY = 10;

interface Waiting<T> {
  resolve: (found: T | null) => void;
  reject: (error: unknown) => void;
}

/** Returns a function that fetches one ID, or null if there is no such thing; IDs requested together are fetched together. */
export function batcher<T>(maxIds: number, fetch: (ids: string[]) => Promise<ReadonlyMap<string, T>>): (id: string) => Promise<T | null> {
  let waiting = new Map<string, Waiting<T>[]>();
  const send = () => {
    const all = [...waiting];
    waiting = new Map();
    for (let from = 0; from < all.length; from += maxIds) {
      const some = all.slice(from, from + maxIds);
      fetch(some.map(([id]) => id)).then(
        (found) => {
          for (const [id, askers] of some) for (const asker of askers) asker.resolve(found.get(id) ?? null);
        },
        (error: unknown) => {
          for (const [, askers] of some) for (const asker of askers) asker.reject(error);
        },
      );
    }
  };
  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setTimeout(send, BATCH_DELAY);
      const others = waiting.get(id);
      if (others) others.push({ resolve, reject });
      else waiting.set(id, [{ resolve, reject }]);
    });
}
