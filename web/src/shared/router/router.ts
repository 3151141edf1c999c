/**
 * Shows the page that belongs to the URL. A page is loaded when it is opened; until then, the previous one
 * stays, and so does the URL, unless the browser itself has changed it (back and forward).
 */
import type { ComponentType } from "react";
import { finder, type Params } from "./find";

export interface Location {
  pathname: string;
  search: string;
  hash: string;
  /** What `navigate` was given for the page. */
  state: unknown;
  /** Identifies the entry in the browser's history. */
  key: string;
}

export interface Page {
  Component: ComponentType;
}

export interface Route {
  /** Segments such as `:id` are parameters. */
  path: string;
  load: () => Promise<Page>;
}

export interface Options {
  /** Replaces the current entry of the history. */
  replace?: boolean;
  state?: unknown;
  keepScroll?: boolean;
}

export interface Shown<R extends Route = Route> {
  location: Location;
  /** Undefined if no page has this path. */
  route: R | undefined;
  params: Params;
  /** Undefined if it could not be loaded. */
  page: Page | undefined;
  error: unknown;
  /** Where to scroll to; "start" is the element that the hash names, or the top. */
  scroll: number | "start" | "keep";
}

/** Leaving the page is blocked until the user decides. */
export interface Blocked {
  proceed: () => void;
  stay: () => void;
}

export interface RouterState<R extends Route = Route> {
  /** Null until the first page is loaded. */
  shown: Shown<R> | null;
  /** While a page is being loaded. */
  busy: boolean;
  blocked: Blocked | null;
}

/** What the history stores for an entry; `index` is its position. */
interface Entry {
  key: string;
  index: number;
  state: unknown;
}

const POSITIONS_KEY = "wakeful.scroll";

export class Router<R extends Route = Route> {
  #state: RouterState<R> = { shown: null, busy: false, blocked: null };
  #index: number;
  #blocks: (() => boolean) | null = null;
  /** The history is being taken back to the page that the user has not left. */
  #reverting = false;
  /** A later navigation replaces one whose page is still loading. */
  #navigations = 0;
  readonly #find: ReturnType<typeof finder<R>>;
  readonly #pages = new Map<R, Page>();
  readonly #positions = new Map(storedPositions());
  readonly #listeners = new Set<() => void>();

  constructor(routes: readonly R[]) {
    this.#find = finder(routes);
    const { key, index, state } = currentEntry(0);
    this.#index = index;
    window.history.scrollRestoration = "manual";
    window.addEventListener("popstate", () => this.#onPop());
    window.addEventListener("pagehide", () => this.#storePositions());
    void this.#show({ ...partsOf(window.location), key, state }, this.#positions.get(key) ?? "start");
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): RouterState<R> => this.#state;

  /** Opens a path, or goes back or forward by a number of entries. */
  readonly navigate = async (to: string | number, options: Options = {}): Promise<void> => {
    if (typeof to === "number") return window.history.go(to);
    const url = new URL(to, window.location.href);
    const open = () => this.#open(url, options);
    if (this.#isBlocked(url.pathname)) this.#ask(() => void open());
    else await open();
  };

  /** Asks before the path changes, if `blocks` says so then; ends with a call of the returned function. */
  block(blocks: () => boolean): () => void {
    this.#blocks = blocks;
    return () => {
      if (this.#blocks === blocks) this.#blocks = null;
    };
  }

  #open(url: URL, { replace = false, state = null, keepScroll = false }: Options): Promise<void> {
    const key = newKey();
    const location = { ...partsOf(url), key, state };
    const path = location.pathname + location.search + location.hash;
    return this.#show(location, keepScroll ? "keep" : "start", () => {
      if (!replace) this.#index += 1;
      const entry: Entry = { key, index: this.#index, state };
      if (replace) window.history.replaceState(entry, "", path);
      else window.history.pushState(entry, "", path);
    });
  }

  #onPop(): void {
    if (this.#reverting) {
      this.#reverting = false;
      return;
    }
    // A link to a hash makes an entry that is not ours yet.
    const { key, index, state } = currentEntry(this.#index + 1);
    const location = { ...partsOf(window.location), key, state };
    const delta = index - this.#index;
    if (delta !== 0 && this.#isBlocked(location.pathname)) {
      this.#reverting = true;
      window.history.go(-delta);
      this.#ask(() => window.history.go(delta));
      return;
    }
    this.#index = index;
    void this.#show(location, this.#positions.get(key) ?? "start");
  }

  #isBlocked(pathname: string): boolean {
    return pathname !== this.#state.shown?.location.pathname && this.#blocks?.() === true;
  }

  #ask(leave: () => void): void {
    const close = () => this.#set({ blocked: null });
    const proceed = () => {
      this.#blocks = null;
      close();
      leave();
    };
    this.#set({ blocked: { proceed, stay: close } });
  }

  async #show(location: Location, scroll: Shown["scroll"], commit?: () => void): Promise<void> {
    const navigation = ++this.#navigations;
    const found = this.#find(location.pathname);
    const route = found?.route;
    let page = route && this.#pages.get(route);
    let error: unknown;
    if (route && !page) {
      this.#set({ busy: true });
      try {
        page = await route.load();
        this.#pages.set(route, page);
      } catch (reason) {
        error = reason;
      }
      if (navigation !== this.#navigations) return;
    }
    this.#rememberPosition();
    commit?.();
    this.#set({ shown: { location, route, params: found?.params ?? {}, page, error, scroll }, busy: false });
  }

  #rememberPosition(): void {
    if (this.#state.shown) this.#positions.set(this.#state.shown.location.key, window.scrollY);
  }

  #storePositions(): void {
    this.#rememberPosition();
    sessionStorage.setItem(POSITIONS_KEY, JSON.stringify([...this.#positions]));
  }

  #set(change: Partial<RouterState<R>>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Without `crypto.randomUUID`, which browsers have only on https and localhost. */
function newKey(): string {
  return Math.random().toString(36).slice(2);
}

function partsOf({ pathname, search, hash }: URL | typeof window.location) {
  return { pathname, search, hash };
}

/** The history's current entry; if it is not ours yet, it becomes ours at `index`. */
function currentEntry(index: number): Entry {
  const stored = window.history.state as Partial<Entry> | null;
  if (typeof stored?.key === "string" && typeof stored.index === "number")
    return { key: stored.key, index: stored.index, state: stored.state };
  const entry: Entry = { key: newKey(), index, state: null };
  window.history.replaceState(entry, "");
  return entry;
}

/** The scroll positions of the entries, from before a reload; none if the browser does not keep them. */
function storedPositions(): [string, number][] {
  try {
    return JSON.parse(sessionStorage.getItem(POSITIONS_KEY) ?? "[]") as [string, number][];
  } catch {
    return [];
  }
}
