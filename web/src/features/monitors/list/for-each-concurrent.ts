/** Runs an action for every item, a few at a time, and continues when one fails. */
const CONCURRENCY = 6;

export async function forEachConcurrent<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<{ failed: T[]; error: unknown }> {
  let next = 0;
  let done = 0;
  const failed: T[] = [];
  let error: unknown = null;
  const work = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      try {
        await act(item);
      } catch (cause) {
        failed.push(item);
        error = cause;
      }
      progress(++done);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { failed, error };
}
