/**
 * The event stream. Over plain HTTP/1.1, a browser has six connections per host
 * for all of its tabs, so a hidden tab closes its own. A refused connection ends an EventSource permanently, so a new one is opened after a pause.
 */

/** How long a hidden tab keeps its connection, so that a quick look at another tab misses nothing. */
export const HIDDEN_CLOSE_DELAY = 3_000;
/** The first and the longest delay before reconnecting. */
const MIN_RETRY_DELAY = 1_000;
const MAX_RETRY_DELAY = 60_000;

interface Listener {
  /** Called with each new connection, to add listeners. */
  listen: (source: EventSource) => void;
  opened: () => void;
  /** Called whenever the connection is lost or closed. */
  lost: () => void;
}

/** Holds a connection while the page is visible; returns a function that closes it. */
export function openEventStream(address: string, { listen, opened, lost }: Listener): () => void {
  let source: EventSource | null = null;
  let delay = MIN_RETRY_DELAY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = () => {
    clearTimeout(timer);
    if (source) return;
    const made = new EventSource(address);
    source = made;
    listen(made);
    made.addEventListener("open", () => {
      delay = MIN_RETRY_DELAY;
      opened();
    });
    made.addEventListener("error", () => {
      lost();
      // The browser reconnects after an interruption, but not after a refusal.
      if (made.readyState !== EventSource.CLOSED) return;
      source = null;
      // With jitter, since all pages were refused at the same time.
      timer = setTimeout(update, delay * (1 + Math.random()));
      delay = Math.min(2 * delay, MAX_RETRY_DELAY);
    });
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
    lost();
  };
  const update = () => {
    clearTimeout(timer);
    if (!document.hidden) open();
    else if (source) timer = setTimeout(close, HIDDEN_CLOSE_DELAY);
    else lost();
  };
  document.addEventListener("visibilitychange", update);
  update();
  return () => {
    document.removeEventListener("visibilitychange", update);
    close();
  };
}
