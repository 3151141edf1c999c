/** The links between the pages about who is notified. */
import { useTexts } from "../../shared/i18n";
import { LinkTabs } from "../../shared/ui/link-tabs";

export function OnCallTabs({ current }: { current: "/oncall" | "/oncall/policies" | "/oncall/routing" }) {
  const { nav, escalation, routing } = useTexts();
  return (
    <LinkTabs
      label={nav.oncall}
      current={current}
      tabs={[
        ["/oncall", nav.oncall],
        ["/oncall/policies", escalation.title],
        ["/oncall/routing", routing.title],
      ]}
    />
  );
}
