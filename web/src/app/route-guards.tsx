/** Route guards: some pages are for guests, the others require a login, and most of those a permission. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, type ReactNode } from "react";
import { useSessionExpiry } from "../shared/api/session-expiry";
import { ApiError, Offline } from "../shared/api/error";
import { firstSignup, meQuery, useMay } from "../shared/api/session";
import { isAfterReset } from "../shared/lib/after-reset";
import { useFirstTexts } from "../shared/i18n";
import { safeRedirect } from "../shared/lib/safe-redirect";
import { Link, Navigate, useLocation, useSearchParams } from "../shared/router";
import { ErrorNotice } from "../shared/ui/error-notice";
import { later } from "../shared/ui/later";
import { Loading } from "../shared/ui/loading";
import { Page } from "../shared/ui/page";
import type { PagePermission } from "./forbidden";
import { useHome } from "./home";
import { Reauthentication } from "./reauthentication";
import { AWAY_RETRY_INTERVAL } from "./server-state";
import { Shell } from "./shell";

// Rarely needed, and not part of the first screen.
const Forbidden = lazy(later(() => import("./forbidden")));
const Reauthenticate = lazy(later(() => import("../features/auth/reauthenticate")));

function retryWhileAway({ state }: { state: { error: unknown } }): number | false {
  return state.error instanceof Offline && AWAY_RETRY_INTERVAL;
}

export function RequireUser({ children }: { children: ReactNode }) {
  const t = useFirstTexts();
  const expiry = useSessionExpiry();
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery({ ...meQuery, refetchInterval: retryWhileAway });
  const { pathname, search } = useLocation();
  if (isPending) return <Loading />;
  if (error && data === undefined) {
    return (
      <main>
        <Page title="Wakeful" narrow>
          <ErrorNotice error={error} retry={() => void refetch()} />
          {/* A login starts in a team in which the user is not suspended. */}
          {error instanceof ApiError && error.has("suspended") && <Link to="/login">{t.nav.logIn}</Link>}
        </Page>
      </main>
    );
  }
  if (!data) return <Navigate to={entrance(firstSignup(client) != null, pathname + search)} replace />;
  return (
    <>
      {/* Nothing of one team remains in another. */}
      <Shell key={data.groupid}>{children}</Shell>
      <Suspense>{expiry === "prompt" && <Reauthenticate />}</Suspense>
      <Reauthentication />
    </>
  );
}

/** The page for a visitor without a session; a login leads to the page that they wanted. */
function entrance(firstSignup: boolean, wanted: string): string {
  if (firstSignup) return "/signup";
  return wanted === "/" ? "/login" : `/login?next=${encodeURIComponent(wanted)}`;
}

/** Replaces pages that the user may not see or use; `/` leads to one that they may. */
export function RequirePermission({ permission, children }: { permission: PagePermission; children: ReactNode }) {
  const may = useMay(permission);
  const [home] = useHome();
  const { pathname } = useLocation();
  if (may) return children;
  if (pathname === "/") return <Navigate to={home} replace />;
  return (
    <Suspense fallback={<Loading />}>
      <Forbidden permission={permission} />
    </Suspense>
  );
}

/** Redirects users who are logged in. */
export function RequireGuest({ children }: { children: ReactNode }) {
  const { data, isPending } = useQuery(meQuery);
  const [search] = useSearchParams();
  const { state } = useLocation() as { state: unknown };
  if (isPending) return <Loading />;
  if (data) return <Navigate to={safeRedirect(search)} state={isAfterReset(state) ? state : null} replace />;
  return children;
}
