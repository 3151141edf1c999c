/** Runs an action for every item, a few at a time, and continues when one fails. */
const AT_ONCE = 6;

export async function forEachConcurrent<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  told: (done: number) => void,
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
      told(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { failed, error };
}
