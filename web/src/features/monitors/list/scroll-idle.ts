/** Waits for the list to come to rest: a row that only flies past asks for nothing. */
const REST = 120;

let scrolled = 0;
window.addEventListener("scroll", () => (scrolled = performance.now()), { passive: true });

/** Calls once nothing has moved for a moment; answers how to call it off. */
export function whenScrollIdle(call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const look = () => {
    const left = scrolled + REST - performance.now();
    if (left <= 0) call();
    else timer = setTimeout(look, left);
  };
  timer = setTimeout(look, REST);
  return () => clearTimeout(timer);
}
