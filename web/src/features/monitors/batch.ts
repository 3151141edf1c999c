/** Turns many single questions into few common ones. */
const MOMENT = 10;

interface Waiting<T> {
  answered: (found: T | null) => void;
  failed: (error: unknown) => void;
}

/** A function that answers for one id, or null when nothing is known of it; ids asked for together are fetched together. */
export function batcher<T>(most: number, fetch: (ids: string[]) => Promise<ReadonlyMap<string, T>>): (id: string) => Promise<T | null> {
  let waiting = new Map<string, Waiting<T>[]>();
  const send = () => {
    const all = [...waiting];
    waiting = new Map();
    for (let from = 0; from < all.length; from += most) {
      const some = all.slice(from, from + most);
      fetch(some.map(([id]) => id)).then(
        (found) => {
          for (const [id, askers] of some) for (const asker of askers) asker.answered(found.get(id) ?? null);
        },
        (error: unknown) => {
          for (const [, askers] of some) for (const asker of askers) asker.failed(error);
        },
      );
    }
  };
  return (id) =>
    new Promise((answered, failed) => {
      if (waiting.size === 0) setTimeout(send, MOMENT);
      const others = waiting.get(id);
      if (others) others.push({ answered, failed });
      else waiting.set(id, [{ answered, failed }]);
    });
}
