/** Every outage and warning of the team, newest first. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../../shared/i18n";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { LoadMore } from "../../../shared/ui/load-more";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { allAlertsQuery } from "../data";
import { Reports } from "../report-menu";
import { AlertRows } from "./rows";

/** How many are shown at first, and after "Show older". */
const LIMITS = [200, 500, 1000] as const;

export function Component() {
  const t = useTexts();
  const [limit, setLimit] = useState<number>(LIMITS[0]);
  const { data, error, isPending, refetch } = useQuery(allAlertsQuery(limit));
  return (
    <Page title={t.nav.alerts} lead={t.alerts.lead} actions={<Reports />}>
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && (
        <Panel flush>
          {data.length === 0 ? (
            <EmptyState title={t.alerts.none}>
              <p>{t.alerts.noneHelp}</p>
            </EmptyState>
          ) : (
            <AlertRows alerts={data} named />
          )}
          <LoadMore shown={data.length} limit={limit} steps={LIMITS} show={setLimit} />
        </Panel>
      )}
    </Page>
  );
}
