/** The user's own account: login, API keys, sessions, teams. */
import { Button } from "@mantine/core";
import { useHasBilling } from "../../shared/api/membership";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { Page, Panel } from "../../shared/ui/page";
import { Account } from "./account";
import { ExportData } from "./export-data";
import { DeleteAccount } from "./delete-account";
import { ApiKeys } from "./api-keys";
import { Contacts } from "./contacts";
import { Mfa } from "./mfa";
import { Sessions } from "./sessions";
import { Teams } from "./teams";

export function Component() {
  const t = useTexts();
  const hasBilling = useHasBilling();
  return (
    <Page title={t.settings.title} narrow>
      <Account />
      <Mfa />
      <Contacts />
      <ApiKeys />
      <Sessions />
      <Teams />
      {hasBilling && (
        <Panel title={t.billing.title} lead={t.billing.lead}>
          <Button variant="default" component={Link} to="/billing">
            {t.billing.see}
          </Button>
        </Panel>
      )}
      <ExportData />
      <DeleteAccount />
    </Page>
  );
}
