/** The member's own account: how they log in, and what logs in for them. */
import { useTexts } from "../../shared/text";
import { Page } from "../../shared/ui/parts";
import { Account } from "./account";
import { Farewell } from "./farewell";
import { Integrations } from "./integrations";
import { Mfa } from "./mfa";
import { Sessions } from "./sessions";

export function Component() {
  const t = useTexts();
  return (
    <Page title={t.settings.title} narrow>
      <Account />
      <Mfa />
      <Integrations />
      <Sessions />
      <Farewell />
    </Page>
  );
}
