/** All routes; each page is loaded when it is opened. */
import { lazy, Suspense } from "react";
import { createBrowserRouter, Outlet } from "react-router";
import { Loading } from "../shared/ui/loading";
import { ErrorPage, NotFoundPage } from "./error-page";
import { RequireGuest, RequireUser } from "./route-guards";

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
              { index: true, lazy: () => import("../features/monitors/list/page") },
              { path: "/monitor/new", lazy: () => import("../features/monitors/edit/page") },
              { path: "/monitor/:id", lazy: () => import("../features/monitors/detail/page") },
              { path: "/monitor/:id/edit", lazy: () => import("../features/monitors/edit/page") },
              { path: "/wallboard", lazy: () => import("../features/monitors/wallboard/page") },
              { path: "/monitor/:id/notify", lazy: () => import("../features/monitors/edit/notify") },
              { path: "/alerts", lazy: () => import("../features/monitors/alerts/page") },
              { path: "/notifiers", lazy: () => import("../features/notifiers/page") },
              { path: "/notifier/new", lazy: () => import("../features/notifiers/edit") },
              { path: "/notifier/:id", lazy: () => import("../features/notifiers/detail") },
              { path: "/notifier/:id/edit", lazy: () => import("../features/notifiers/edit") },
              { path: "/team", lazy: () => import("../features/team/page") },
              { path: "/billing", lazy: () => import("../features/billing/page") },
              { path: "/settings", lazy: () => import("../features/settings/page") },
              { path: "*", Component: NotFoundPage },
            ],
          },
        ],
      },
    ],
  },
]);
