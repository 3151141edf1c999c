/** The team: its members and their roles. */
import { useTexts } from "../../shared/i18n";
import { Page } from "../../shared/ui/page";
import { Members } from "./members";

export function Component() {
  const t = useTexts();
  return (
    <Page title={t.team.title} narrow>
      <Members />
    </Page>
  );
}
