/**
 * The connection that events come by. Over plain HTTP/1.1 a browser has six to
 * a host for all of its tabs, so a tab that nobody sees lets go of its own. A
 * refusal ends an EventSource permanently, so a new one is opened after a pause.
 */

/** How long a tab that is left keeps its connection: who looks elsewhere for a moment misses nothing. */
export const LINGER = 3_000;
/** Pauses before it is tried again, the first and the longest. */
const FIRST = 1_000;
const LONGEST = 60_000;

interface Listener {
  /** Given each new connection, to hear what it tells. */
  listen: (source: EventSource) => void;
  opened: () => void;
  /** Called as often as it is lost, or let go. */
  lost: () => void;
}

/** Keeps a connection for as long as the page is seen; answers how to end it. */
export function openEventStream(address: string, { listen, opened, lost }: Listener): () => void {
  let source: EventSource | null = null;
  let pause = FIRST;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = () => {
    clearTimeout(timer);
    if (source) return;
    const made = new EventSource(address);
    source = made;
    listen(made);
    made.addEventListener("open", () => {
      pause = FIRST;
      opened();
    });
    made.addEventListener("error", () => {
      lost();
      // What broke off is tried again by the browser; what was refused is not.
      if (made.readyState !== EventSource.CLOSED) return;
      source = null;
      // Not all pages at once: they were refused at the same time.
      timer = setTimeout(turn, pause * (1 + Math.random()));
      pause = Math.min(2 * pause, LONGEST);
    });
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
    lost();
  };
  const turn = () => {
    clearTimeout(timer);
    if (!document.hidden) open();
    else if (source) timer = setTimeout(close, LINGER);
    else lost();
  };
  document.addEventListener("visibilitychange", turn);
  turn();
  return () => {
    document.removeEventListener("visibilitychange", turn);
    close();
  };
}
