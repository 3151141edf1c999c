/** The member's own account: how they log in, and what logs in for them. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { membership } from "../../shared/api/membership";
import { useTexts } from "../../shared/text";
import { Page, Panel } from "../../shared/ui/parts";
import { Account } from "./account";
import { Farewell } from "./farewell";
import { Integrations } from "./integrations";
import { Mfa } from "./mfa";
import { Sessions } from "./sessions";

export function Component() {
  const t = useTexts();
  const { data } = useQuery(membership);
  return (
    <Page title={t.settings.title} narrow>
      <Account />
      <Mfa />
      <Integrations />
      <Sessions />
      {data?.billing && (
        <Panel title={t.billing.title} lead={t.billing.lead}>
          <Button variant="default" component={Link} to="/billing">
            {t.billing.see}
          </Button>
        </Panel>
      )}
      <Farewell />
    </Page>
  );
}
