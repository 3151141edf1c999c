/** What each region saw in the check that an alert was opened by, if its monitor is checked from several. */
import { useQuery } from "@tanstack/react-query";
import { useTexts } from "../../../shared/i18n";
import { Panel } from "../../../shared/ui/page";
import { RegionRow, RegionRows } from "../detail/regions";
import type { Detail } from "./data";
import { decidedAt, decidingCheckQuery } from "./deciding-check";

export function RegionResults({ detail }: { detail: Detail }) {
  const { alerts } = useTexts();
  const { data: check } = useQuery(decidingCheckQuery(detail.alert.monitor.monitorid, decidedAt(detail)));
  if (!check) return null;
  return (
    <Panel title={alerts.regions} lead={alerts.regionsLead}>
      <RegionRows>
        {check.regions.map((seen) => (
          <RegionRow key={seen.region} name={seen.region} problem={null} seen={seen} at={check.at} />
        ))}
      </RegionRows>
    </Panel>
  );
}
