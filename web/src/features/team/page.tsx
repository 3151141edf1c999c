/** The team: its members and, for those who manage them, service accounts and API keys. */
import { Button } from "@mantine/core";
import { Suspense } from "react";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { Page, Panel } from "../../shared/ui/page";
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
      <May do="audit">
        <Panel
          title={t.audit.title}
          lead={t.audit.lead}
          actions={
            <Button component={Link} to="/team/audit" variant="default">
              {t.audit.open}
            </Button>
          }
        />
      </May>
    </Page>
  );
}
