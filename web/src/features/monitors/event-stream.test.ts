import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openEventStream, HIDDEN_CLOSE_DELAY } from "./event-stream";

/** A minimal EventSource. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static made: Source[] = [];
  readyState = 0;

  constructor(readonly address: string) {
    super();
    Source.made.push(this);
  }

  answers() {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }

  breaks() {
    this.readyState = 0;
    this.dispatchEvent(new Event("error"));
  }

  isRefused() {
    this.readyState = Source.CLOSED;
    this.dispatchEvent(new Event("error"));
  }

  close() {
    this.readyState = Source.CLOSED;
  }
}

const page = Object.assign(new EventTarget(), { hidden: false });
const calls: string[] = [];
const end: (() => void)[] = [];

function setHidden(hidden: boolean) {
  page.hidden = hidden;
  page.dispatchEvent(new Event("visibilitychange"));
}

function start() {
  end.push(openEventStream("/events", { listen: () => undefined, opened: () => calls.push("opened"), lost: () => calls.push("lost") }));
}

const open = () => Source.made.filter((source) => source.readyState !== Source.CLOSED);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("document", page);
  vi.spyOn(Math, "random").mockReturnValue(0);
  page.hidden = false;
  Source.made = [];
  calls.length = 0;
});

afterEach(() => {
  for (const stop of end.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("a tab's connection", () => {
  test("a hidden tab closes its connection and opens another when it is visible again", () => {
    start();
    Source.made[0]?.answers();
    setHidden(true);
    vi.advanceTimersByTime(HIDDEN_CLOSE_DELAY - 1);
    expect(open()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(open()).toHaveLength(0);
    expect(calls).toEqual(["opened", "lost"]);
    setHidden(false);
    expect(open()).toHaveLength(1);
    Source.made[1]?.answers();
    expect(calls).toEqual(["opened", "lost", "opened"]);
  });

  test("a tab that is hidden only briefly keeps it", () => {
    start();
    Source.made[0]?.answers();
    setHidden(true);
    vi.advanceTimersByTime(HIDDEN_CLOSE_DELAY - 1);
    setHidden(false);
    vi.advanceTimersByTime(10 * HIDDEN_CLOSE_DELAY);
    expect(Source.made).toHaveLength(1);
    expect(calls).toEqual(["opened"]);
  });

  test("a tab opened in the background has none, and reports it as lost", () => {
    page.hidden = true;
    start();
    expect(Source.made).toHaveLength(0);
    expect(calls).toEqual(["lost"]);
    setHidden(false);
    expect(open()).toHaveLength(1);
  });

  test("a refused connection is retried after growing pauses, which reset once it succeeds", () => {
    start();
    for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const tries = Source.made.length;
      Source.made.at(-1)?.isRefused();
      vi.advanceTimersByTime(pause * 1000 - 1);
      expect(Source.made, `within ${pause} s`).toHaveLength(tries);
      vi.advanceTimersByTime(1);
      expect(Source.made, `after ${pause} s`).toHaveLength(tries + 1);
    }
    Source.made.at(-1)?.answers();
    Source.made.at(-1)?.isRefused();
    const tries = Source.made.length;
    vi.advanceTimersByTime(1000);
    expect(Source.made).toHaveLength(tries + 1);
  });

  test("after an interruption, the browser reconnects automatically", () => {
    start();
    Source.made[0]?.answers();
    Source.made[0]?.breaks();
    vi.advanceTimersByTime(600_000);
    expect(Source.made).toHaveLength(1);
    expect(calls).toEqual(["opened", "lost"]);
  });

  test("a refused tab does not reconnect while hidden, but at once when it is visible", () => {
    start();
    Source.made[0]?.isRefused();
    setHidden(true);
    vi.advanceTimersByTime(600_000);
    expect(Source.made).toHaveLength(1);
    setHidden(false);
    expect(Source.made).toHaveLength(2);
  });

  test("it ends with the page, also while it waits to reconnect", () => {
    start();
    Source.made[0]?.isRefused();
    end.pop()?.();
    vi.advanceTimersByTime(600_000);
    setHidden(false);
    expect(Source.made).toHaveLength(1);
  });
});
