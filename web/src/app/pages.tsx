/** The current page within the frame for its audience. */
import { Suspense, useSyncExternalStore, type ReactNode } from "react";
import { ErrorBoundary } from "../shared/ui/error-boundary";
import { Loading } from "../shared/ui/loading";
import { ErrorPage, NotFoundPage } from "./error-page";
import { RouteFocus } from "./route-focus";
import { RequireGuest, RequirePermission, RequireUser } from "./route-guards";
import { router, type AppRoute } from "./routes";

const errorPage = (error: unknown) => <ErrorPage error={error} />;

export function Pages() {
  const { shown } = useSyncExternalStore(router.subscribe, router.state);
  if (!shown) return <Loading />;
  const { location, route, page, error } = shown;
  const content = !route ? <NotFoundPage /> : page ? <page.Component /> : <ErrorPage error={error} />;
  return (
    <ErrorBoundary location={location} fallback={errorPage}>
      <Suspense fallback={<Loading />}>
        <Frame audience={route?.audience ?? "users"}>
          <ErrorBoundary location={location} fallback={errorPage}>
            {content}
          </ErrorBoundary>
        </Frame>
      </Suspense>
      <RouteFocus />
    </ErrorBoundary>
  );
}

function Frame({ audience, children }: { audience: AppRoute["audience"]; children: ReactNode }) {
  if (audience === "everyone") return children;
  if (audience === "guests") return <RequireGuest>{children}</RequireGuest>;
  return (
    <RequireUser>{audience === "users" ? children : <RequirePermission permission={audience}>{children}</RequirePermission>}</RequireUser>
  );
}
