/** The team: its members and, for those who manage them, service accounts and API keys. */
import { Suspense } from "react";
import { useTexts } from "../../shared/i18n";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { Page } from "../../shared/ui/page";
import { Members } from "./members";
import { ServiceAccounts } from "./service-accounts";
import { TeamKeys } from "./team-keys";

export function Component() {
  const t = useTexts();
  return (
    <Page title={t.team.title} narrow>
      <Members />
      <May do="people">
        <Suspense fallback={<Loading />}>
          <ServiceAccounts />
          <TeamKeys />
        </Suspense>
      </May>
    </Page>
  );
}
