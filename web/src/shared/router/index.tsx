/** What pages and components use of the router. */
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
  type ComponentProps,
  type MouseEvent,
  type ReactNode,
} from "react";
import { decode, type Params } from "./find";
import type { Blocked, Location, Options, Router, RouterState, Shown } from "./router";

const RouterContext = createContext<Router | null>(null);
const ShownContext = createContext<Shown | null>(null);

interface Props {
  router: Router;
  children: ReactNode;
}

export function RouterProvider({ router, children }: Props) {
  const { shown } = useSyncExternalStore(router.subscribe, router.state);
  return (
    <RouterContext value={router}>
      <ShownContext value={shown}>{children}</ShownContext>
    </RouterContext>
  );
}

function useRouter(): Router {
  const router = use(RouterContext);
  if (!router) throw new Error("the router can only be used inside RouterProvider");
  return router;
}

function useRouterState(): RouterState {
  const router = useRouter();
  return useSyncExternalStore(router.subscribe, router.state);
}

/** The page that is shown; only for what is inside a page or its layout. */
function useShown(): Shown {
  const shown = use(ShownContext);
  if (!shown) throw new Error("no page is shown yet");
  return shown;
}

export function useLocation(): Location {
  return useShown().location;
}

export function useParams(): Params {
  return useShown().params;
}

export function useNavigate(): Router["navigate"] {
  return useRouter().navigate;
}

/** Whether the next page is being loaded. */
export function useBusy(): boolean {
  return useRouterState().busy;
}

type Change = URLSearchParams | ((old: URLSearchParams) => URLSearchParams);

export function useSearchParams(): [URLSearchParams, (change: Change, options?: Options) => void] {
  const router = useRouter();
  const { search } = useLocation();
  const params = useMemo(() => new URLSearchParams(search), [search]);
  const change = useCallback(
    (next: Change, options?: Options) => {
      const old = new URLSearchParams(router.state().shown?.location.search);
      const query = (typeof next === "function" ? next(old) : next).toString();
      void router.navigate(pathWith(window.location.pathname, query), options);
    },
    [router],
  );
  return [params, change];
}

/** A path with a query, which may be empty. */
export function pathWith(pathname: string, query: string): string {
  return query === "" ? pathname : `${pathname}?${query}`;
}

interface LinkProps extends Omit<ComponentProps<"a">, "href"> {
  /** A path of the web app. */
  to: string;
}

export function Link({ to, onClick, ...props }: LinkProps) {
  const router = useRouter();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const elsewhere = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || elsewhere) return;
    event.preventDefault();
    // As browsers do for a link to the page that is open.
    void router.navigate(to, { replace: event.currentTarget.href === window.location.href });
  };
  return <a {...props} href={to} onClick={follow} />;
}

/** Redirects. */
export function Navigate({ to, state, replace }: { to: string } & Options) {
  const { navigate } = useRouter();
  useEffect(() => void navigate(to, { state, replace }), [navigate, to, state, replace]);
  return null;
}

/** After each navigation, scrolls to the top or to the hash, and after back and forward to where the page was. */
export function ScrollRestoration() {
  const shown = useShown();
  useLayoutEffect(() => {
    const { location, scroll } = shown;
    if (scroll === "keep") return;
    const target = scroll === "start" && location.hash !== "" && document.getElementById(decode(location.hash.slice(1)));
    if (target) target.scrollIntoView();
    else window.scrollTo(0, scroll === "start" ? 0 : scroll);
  }, [shown]);
  return null;
}

/** Asks before another page is opened, if `blocks` says so then; not null while the user has to decide. */
export function useBlocker(blocks: () => boolean): Blocked | null {
  const router = useRouter();
  const latest = useRef(blocks);
  useEffect(() => {
    latest.current = blocks;
  });
  useEffect(() => router.block(() => latest.current()), [router]);
  return useRouterState().blocked;
}
