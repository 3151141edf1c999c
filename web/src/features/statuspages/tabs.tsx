/** The links between the lists of status pages, of incidents and of their templates. */
import { useTexts } from "../../shared/i18n";
import { LinkTabs } from "../../shared/ui/link-tabs";

export function StatuspageTabs({ current }: { current: "/statuspages" | "/incidents" | "/incidenttemplates" }) {
  const { statuspages, incidents } = useTexts();
  return (
    <LinkTabs
      label={statuspages.title}
      current={current}
      tabs={[
        ["/statuspages", statuspages.title],
        ["/incidents", incidents.title],
        ["/incidenttemplates", incidents.templates.title],
      ]}
    />
  );
}
