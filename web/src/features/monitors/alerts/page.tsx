/** Every outage and warning of the team, newest first. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../../shared/i18n";
import { Empty, Older, Page, Panel, Trouble, Waiting } from "../../../shared/ui/parts";
import { allAlerts } from "../data";
import { Reports } from "../report-menu";
import { AlertRows } from "./rows";

/** How many show at first, and on demand. */
const SHOWN = [200, 500, 1000] as const;

export function Component() {
  const t = useTexts();
  const [limit, setLimit] = useState<number>(SHOWN[0]);
  const { data, error, isPending, refetch } = useQuery(allAlerts(limit));
  return (
    <Page title={t.nav.alerts} lead={t.alerts.lead} actions={<Reports />}>
      {isPending && <Waiting />}
      {error && <Trouble error={error} retry={() => void refetch()} />}
      {data && (
        <Panel flush>
          {data.length === 0 ? (
            <Empty title={t.alerts.none}>
              <p>{t.alerts.noneHelp}</p>
            </Empty>
          ) : (
            <AlertRows alerts={data} named />
          )}
          <Older shown={data.length} limit={limit} steps={SHOWN} show={setLimit} />
        </Panel>
      )}
    </Page>
  );
}
