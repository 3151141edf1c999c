/** Every outage and warning of the team, newest first. */
import { useQuery } from "@tanstack/react-query";
import { useTexts } from "../../../shared/text";
import { Empty, Page, Panel, Trouble, Waiting } from "../../../shared/ui/parts";
import { alerts } from "../data";
import { Reports } from "../report";
import { AlertRows } from "./rows";

export function Component() {
  const t = useTexts();
  const { data, error, isPending, refetch } = useQuery(alerts);
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
        </Panel>
      )}
    </Page>
  );
}
