/** All routes; each page is loaded when it is opened. */
import { lazy, Suspense } from "react";
import { createBrowserRouter, Outlet, type RouteObject } from "react-router";
import { Loading } from "../shared/ui/loading";
import { ErrorPage, NotFoundPage } from "./error-page";
import type { PagePermission } from "./forbidden";
import { RequireGuest, RequirePermission, RequireUser } from "./route-guards";

// Not needed before the first change of the route.
const RouteFocus = lazy(() => import("./route-focus"));

function Root() {
  return (
    <>
      <Outlet />
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
          { path: "/login", lazy: () => import("../features/auth/login") },
          { path: "/signup", lazy: () => import("../features/auth/signup") },
          { path: "/lost", lazy: () => import("../features/auth/forgot-password") },
        ],
      },
      { path: "/password", lazy: () => import("../features/auth/reset-password") },
      { path: "/verify", lazy: () => import("../features/auth/verify-email") },
      { path: "/contact", lazy: () => import("../features/auth/contact") },
      {
        Component: RequireUser,
        children: [
          {
            ErrorBoundary: ErrorPage,
            children: [
              needs("view", [
                { index: true, lazy: () => import("../features/monitors/list/page") },
                { path: "/monitor/:id", lazy: () => import("../features/monitors/detail/page") },
                { path: "/wallboard", lazy: () => import("../features/monitors/wallboard/page") },
                { path: "/alerts", lazy: () => import("../features/monitors/alerts/page") },
                { path: "/notifiers", lazy: () => import("../features/notifiers/page") },
                { path: "/notifier/:id", lazy: () => import("../features/notifiers/detail") },
              ]),
              needs("edit", [
                { path: "/monitor/new", lazy: () => import("../features/monitors/edit/page") },
                { path: "/monitor/:id/edit", lazy: () => import("../features/monitors/edit/page") },
                { path: "/monitor/:id/notify", lazy: () => import("../features/monitors/edit/notify") },
                { path: "/notifier/new", lazy: () => import("../features/notifiers/edit") },
                { path: "/notifier/:id/edit", lazy: () => import("../features/notifiers/edit") },
              ]),
              needs("bills", [{ path: "/billing", lazy: () => import("../features/billing/page") }]),
              { path: "/team", lazy: () => import("../features/team/page") },
              { path: "/settings", lazy: () => import("../features/settings/page") },
              { path: "*", Component: NotFoundPage },
            ],
          },
        ],
      },
    ],
  },
]);
