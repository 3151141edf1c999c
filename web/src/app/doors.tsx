/** Who may see what: guests the ways in, members everything else. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Navigate, Outlet, useLocation, useSearchParams } from "react-router";
import { useEnding } from "../shared/api/ending";
import { me } from "../shared/api/session";
import { isAfterReset } from "../shared/lib/after-reset";
import { next } from "../shared/lib/next";
import { Page, Trouble, Waiting } from "../shared/ui/parts";
import { Shell } from "./shell";

// Seldom needed, and a dialog is on no first screen.
const Again = lazy(() => import("../features/auth/again"));

export function Members() {
  const ending = useEnding();
  const { data, error, isPending, refetch } = useQuery(me);
  const { pathname, search } = useLocation();
  if (isPending) return <Waiting />;
  if (error && data === undefined) {
    return (
      <main>
        <Page title="Wakeful" narrow>
          <Trouble error={error} retry={() => void refetch()} />
        </Page>
      </main>
    );
  }
  if (!data) {
    const wanted = pathname + search;
    return <Navigate to={wanted === "/" ? "/login" : `/login?next=${encodeURIComponent(wanted)}`} replace />;
  }
  return (
    <>
      <Shell />
      <Suspense>{ending === "asked" && <Again />}</Suspense>
    </>
  );
}

/** Whoever is logged in, just now or before, is led on. */
export function Guests() {
  const { data, isPending } = useQuery(me);
  const [search] = useSearchParams();
  const { state } = useLocation() as { state: unknown };
  if (isPending) return <Waiting />;
  if (data) return <Navigate to={next(search)} state={isAfterReset(state) ? state : null} replace />;
  return <Outlet />;
}
