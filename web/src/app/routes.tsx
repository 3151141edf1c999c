/** All routes; each page is loaded when it is opened. */
import { Suspense } from "react";
import { createBrowserRouter, Outlet, type RouteObject } from "react-router";
import { later } from "../shared/ui/later";
import { Loading } from "../shared/ui/loading";
import { ErrorPage, NotFoundPage } from "./error-page";
import type { PagePermission } from "./forbidden";
import { RouteFocus } from "./route-focus";
import { RequireGuest, RequirePermission, RequireUser } from "./route-guards";

function Root() {
  return (
    <>
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
      <RouteFocus />
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
          { path: "/login", lazy: later(() => import("../features/auth/login")) },
          { path: "/signup", lazy: later(() => import("../features/auth/signup")) },
          { path: "/lost", lazy: later(() => import("../features/auth/forgot-password")) },
        ],
      },
      { path: "/password", lazy: later(() => import("../features/auth/reset-password")) },
      { path: "/verify", lazy: later(() => import("../features/auth/verify-email")) },
      { path: "/contact", lazy: later(() => import("../features/auth/contact")) },
      {
        Component: RequireUser,
        children: [
          {
            ErrorBoundary: ErrorPage,
            children: [
              needs("view", [
                { index: true, lazy: () => import("../features/monitors/list/page") },
                { path: "/monitor/:id", lazy: later(() => import("../features/monitors/detail/page")) },
                { path: "/wallboard", lazy: later(() => import("../features/monitors/wallboard/page")) },
                { path: "/alerts", lazy: later(() => import("../features/monitors/alerts/page")) },
                { path: "/notifiers", lazy: later(() => import("../features/notifiers/page")) },
                { path: "/notifier/:id", lazy: later(() => import("../features/notifiers/detail")) },
              ]),
              needs("edit", [
                { path: "/monitor/new", lazy: later(() => import("../features/monitors/edit/page")) },
                { path: "/monitor/:id/edit", lazy: later(() => import("../features/monitors/edit/page")) },
                { path: "/monitor/:id/notify", lazy: later(() => import("../features/monitors/edit/notify")) },
                { path: "/notifier/new", lazy: later(() => import("../features/notifiers/edit")) },
                { path: "/notifier/:id/edit", lazy: later(() => import("../features/notifiers/edit")) },
              ]),
              needs("bills", [{ path: "/billing", lazy: later(() => import("../features/billing/page")) }]),
              { path: "/team", lazy: later(() => import("../features/team/page")) },
              { path: "/settings", lazy: later(() => import("../features/settings/page")) },
              { path: "*", Component: NotFoundPage },
            ],
          },
        ],
      },
    ],
  },
]);
