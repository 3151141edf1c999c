/** All pages; each is loaded when it is opened. */
import { Router, type Route } from "../shared/router/router";
import { later } from "../shared/ui/later";
import type { PagePermission } from "./forbidden";

export interface AppRoute extends Route {
  /** Who can see the page; with the name of a permission, the users who have it. */
  audience: "guests" | "everyone" | "users" | PagePermission;
}

const oncall = later(() => import("../features/oncall/page"));
const maintenance = later(() => import("../features/maintenance/page"));
const statuspages = later(() => import("../features/statuspages/page"));

/** The first one that matches is shown. */
const routes: AppRoute[] = [
  { path: "/login", audience: "guests", load: later(() => import("../features/auth/login")) },
  { path: "/signup", audience: "guests", load: later(() => import("../features/auth/signup")) },
  { path: "/lost", audience: "guests", load: later(() => import("../features/auth/forgot-password")) },
  { path: "/password", audience: "everyone", load: later(() => import("../features/auth/reset-password")) },
  { path: "/verify", audience: "everyone", load: later(() => import("../features/auth/verify-email")) },
  { path: "/join", audience: "everyone", load: later(() => import("../features/auth/join")) },
  { path: "/contact", audience: "everyone", load: later(() => import("../features/auth/contact")) },
  { path: "/", audience: "view", load: () => import("../features/monitors/list/page") },
  { path: "/monitor/new", audience: "edit", load: later(() => import("../features/monitors/edit/page")) },
  { path: "/monitor/:id", audience: "view", load: later(() => import("../features/monitors/detail/page")) },
  { path: "/monitor/:id/edit", audience: "edit", load: later(() => import("../features/monitors/edit/page")) },
  { path: "/monitor/:id/notify", audience: "edit", load: later(() => import("../features/monitors/edit/notify")) },
  { path: "/wallboard", audience: "view", load: later(() => import("../features/monitors/wallboard/page")) },
  { path: "/alerts", audience: "view", load: later(() => import("../features/monitors/alerts/page")) },
  { path: "/alert/:id", audience: "view", load: later(() => import("../features/monitors/alerts/alert")) },
  { path: "/maintenance", audience: "view", load: maintenance },
  { path: "/maintenance/new", audience: "respond", load: maintenance },
  { path: "/maintenance/:id", audience: "view", load: maintenance },
  { path: "/maintenance/:id/edit", audience: "respond", load: maintenance },
  { path: "/oncall", audience: "view", load: oncall },
  { path: "/oncall/policies", audience: "view", load: oncall },
  { path: "/oncall/routing", audience: "view", load: oncall },
  { path: "/oncall/policy/new", audience: "edit", load: oncall },
  { path: "/oncall/policy/:id/edit", audience: "edit", load: oncall },
  { path: "/oncall/schedule/new", audience: "edit", load: oncall },
  { path: "/oncall/schedule/:id/edit", audience: "edit", load: oncall },
  { path: "/statuspages", audience: "view", load: statuspages },
  { path: "/statuspage/new", audience: "edit", load: statuspages },
  { path: "/statuspage/:id", audience: "view", load: statuspages },
  { path: "/incidents", audience: "view", load: statuspages },
  { path: "/incidenttemplates", audience: "view", load: statuspages },
  { path: "/incident/new", audience: "respond", load: statuspages },
  { path: "/incident/:id", audience: "view", load: statuspages },
  { path: "/notifiers", audience: "view", load: later(() => import("../features/notifiers/page")) },
  { path: "/notifier/new", audience: "edit", load: later(() => import("../features/notifiers/edit")) },
  { path: "/notifier/:id", audience: "view", load: later(() => import("../features/notifiers/detail")) },
  { path: "/notifier/:id/edit", audience: "edit", load: later(() => import("../features/notifiers/edit")) },
  { path: "/billing", audience: "bills", load: later(() => import("../features/billing/page")) },
  { path: "/team", audience: "users", load: later(() => import("../features/team/page")) },
  { path: "/team/audit", audience: "audit", load: later(() => import("../features/audit/page")) },
  { path: "/admin", audience: "operate", load: later(() => import("../features/admin/page")) },
  { path: "/admin/:id", audience: "operate", load: later(() => import("../features/admin/page")) },
  { path: "/settings", audience: "users", load: later(() => import("../features/settings/page")) },
];

export const router = new Router(routes);
