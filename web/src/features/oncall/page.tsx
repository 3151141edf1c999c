/** Who is on call, the escalation policies, and the routing rules. */
import { useLocation, useParams } from "../../shared/router";
import { PolicyEditor } from "./policies/edit";
import { PolicyList } from "./policies/list";
import { RoutingPage } from "./routing/page";
import { ScheduleEditor } from "./schedules/edit";
import { SchedulePage } from "./schedules/page";

export function Component() {
  const { id } = useParams();
  const { pathname } = useLocation();
  if (pathname === "/oncall/routing") return <RoutingPage />;
  if (pathname === "/oncall/policies") return <PolicyList />;
  if (pathname.startsWith("/oncall/policy/")) return <PolicyEditor id={id} />;
  return pathname === "/oncall" ? <SchedulePage /> : <ScheduleEditor id={id} />;
}
