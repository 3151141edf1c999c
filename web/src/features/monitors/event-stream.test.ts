import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openEventStream, LINGER } from "./event-stream";

/** What a browser has, as far as it is needed here. */
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
const told: string[] = [];
const end: (() => void)[] = [];

function look(hidden: boolean) {
  page.hidden = hidden;
  page.dispatchEvent(new Event("visibilitychange"));
}

function start() {
  end.push(openEventStream("/events", { listen: () => undefined, opened: () => told.push("opened"), lost: () => told.push("lost") }));
}

const open = () => Source.made.filter((source) => source.readyState !== Source.CLOSED);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("document", page);
  vi.spyOn(Math, "random").mockReturnValue(0);
  page.hidden = false;
  Source.made = [];
  told.length = 0;
});

afterEach(() => {
  for (const stop of end.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("a tab's connection", () => {
  test("a tab that nobody sees lets go of it, and has another when it is seen", () => {
    start();
    Source.made[0]?.answers();
    look(true);
    vi.advanceTimersByTime(LINGER - 1);
    expect(open()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(open()).toHaveLength(0);
    expect(told).toEqual(["opened", "lost"]);
    look(false);
    expect(open()).toHaveLength(1);
    Source.made[1]?.answers();
    expect(told).toEqual(["opened", "lost", "opened"]);
  });

  test("a quick look elsewhere keeps it", () => {
    start();
    Source.made[0]?.answers();
    look(true);
    vi.advanceTimersByTime(LINGER - 1);
    look(false);
    vi.advanceTimersByTime(10 * LINGER);
    expect(Source.made).toHaveLength(1);
    expect(told).toEqual(["opened"]);
  });

  test("a tab that was opened in the background has none, and knows that it missed something", () => {
    page.hidden = true;
    start();
    expect(Source.made).toHaveLength(0);
    expect(told).toEqual(["lost"]);
    look(false);
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

  test("what only broke off is left to the browser, which tries again by itself", () => {
    start();
    Source.made[0]?.answers();
    Source.made[0]?.breaks();
    vi.advanceTimersByTime(600_000);
    expect(Source.made).toHaveLength(1);
    expect(told).toEqual(["opened", "lost"]);
  });

  test("a refused tab does not try again unseen, but at once when it is seen", () => {
    start();
    Source.made[0]?.isRefused();
    look(true);
    vi.advanceTimersByTime(600_000);
    expect(Source.made).toHaveLength(1);
    look(false);
    expect(Source.made).toHaveLength(2);
  });

  test("it ends with the view, also while it waits for another try", () => {
    start();
    Source.made[0]?.isRefused();
    end.pop()?.();
    vi.advanceTimersByTime(600_000);
    look(false);
    expect(Source.made).toHaveLength(1);
  });
});
