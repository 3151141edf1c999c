/** Waits until scrolling has stopped, so that rows scrolled past send no requests. */
const IDLE_DELAY = 120;

let lastScroll = 0;
window.addEventListener("scroll", () => (lastScroll = performance.now()), { passive: true });

/** Calls back once scrolling has stopped; returns a function that cancels it. */
export function whenScrollIdle(call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const check = () => {
    const left = lastScroll + IDLE_DELAY - performance.now();
    if (left <= 0) call();
    else timer = setTimeout(check, left);
  };
  timer = setTimeout(check, IDLE_DELAY);
  return () => clearTimeout(timer);
}
