/** The status pages and their incidents: one file, as those who need one of them soon need the other. */
import { useLocation, useParams } from "../../shared/router";
import { IncidentEditor } from "./incidents/edit";
import { IncidentPage } from "./incidents/detail";
import { IncidentList } from "./incidents/list";
import { TemplateList } from "./incidents/templates";
import { StatuspageEditor } from "./edit";
import { StatuspageList } from "./list";

export function Component() {
  const { id } = useParams();
  const { pathname } = useLocation();
  if (pathname === "/incidents") return <IncidentList />;
  if (pathname === "/incidenttemplates") return <TemplateList />;
  if (pathname === "/incident/new") return <IncidentEditor />;
  if (pathname.startsWith("/incident/")) return <IncidentPage id={id ?? ""} />;
  return pathname === "/statuspages" ? <StatuspageList /> : <StatuspageEditor id={id} />;
}
