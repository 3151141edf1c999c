/** All routes; each page is loaded when it is opened. */
import { lazy, Suspense } from "react";
import { createBrowserRouter, Outlet, type RouteObject } from "react-router";
import { withTexts } from "../shared/i18n";
import { Loading } from "../shared/ui/loading";
import { ErrorPage, NotFoundPage } from "./error-page";
import type { PagePermission } from "./forbidden";
import { RequireGuest, RequirePermission, RequireUser } from "./route-guards";

// Not needed before the first change of the route.
const RouteFocus = lazy(() => import("./route-focus"));

function Root() {
  return (
    <>
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
      <Suspense>
        <RouteFocus />
      </Suspense>
    </>
  );
}

/** Pages for users with a permission. */
function needs(permission: PagePermission, children: RouteObject[]): RouteObject {
  return { element: <RequirePermission permission={permission} />, children };
}

export const router = createBrowserRouter([
  {
    Component: Root,
    ErrorBoundary: ErrorPage,
    HydrateFallback: Loading,
    children: [
      {
        Component: RequireGuest,
        children: [
          { path: "/login", lazy: withTexts(() => import("../features/auth/login")) },
          { path: "/signup", lazy: withTexts(() => import("../features/auth/signup")) },
          { path: "/lost", lazy: withTexts(() => import("../features/auth/forgot-password")) },
        ],
      },
      { path: "/password", lazy: withTexts(() => import("../features/auth/reset-password")) },
      { path: "/verify", lazy: withTexts(() => import("../features/auth/verify-email")) },
      { path: "/contact", lazy: withTexts(() => import("../features/auth/contact")) },
      {
        Component: RequireUser,
        children: [
          {
            ErrorBoundary: ErrorPage,
            children: [
              needs("view", [
                { index: true, lazy: () => import("../features/monitors/list/page") },
                { path: "/monitor/:id", lazy: withTexts(() => import("../features/monitors/detail/page")) },
                { path: "/wallboard", lazy: withTexts(() => import("../features/monitors/wallboard/page")) },
                { path: "/alerts", lazy: withTexts(() => import("../features/monitors/alerts/page")) },
                { path: "/notifiers", lazy: withTexts(() => import("../features/notifiers/page")) },
                { path: "/notifier/:id", lazy: withTexts(() => import("../features/notifiers/detail")) },
              ]),
              needs("edit", [
                { path: "/monitor/new", lazy: withTexts(() => import("../features/monitors/edit/page")) },
                { path: "/monitor/:id/edit", lazy: withTexts(() => import("../features/monitors/edit/page")) },
                { path: "/monitor/:id/notify", lazy: withTexts(() => import("../features/monitors/edit/notify")) },
                { path: "/notifier/new", lazy: withTexts(() => import("../features/notifiers/edit")) },
                { path: "/notifier/:id/edit", lazy: withTexts(() => import("../features/notifiers/edit")) },
              ]),
              needs("bills", [{ path: "/billing", lazy: withTexts(() => import("../features/billing/page")) }]),
              { path: "/team", lazy: withTexts(() => import("../features/team/page")) },
              { path: "/settings", lazy: withTexts(() => import("../features/settings/page")) },
              { path: "*", Component: NotFoundPage },
            ],
          },
        ],
      },
    ],
  },
]);
