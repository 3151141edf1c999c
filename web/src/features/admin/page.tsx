/** The administration of the installation: its state, teams, users, deliveries, settings and audit log. */
import type { ComponentType } from "react";
import { find, valuesOfSet } from "../../shared/api/closed-sets";
import { useTexts } from "../../shared/i18n";
import { Link, useParams } from "../../shared/router";
import { NotFound } from "../../shared/ui/not-found";
import { Page } from "../../shared/ui/page";
import styles from "./admin.module.css";
import { Deliveries } from "./deliveries";
import { Log } from "./log";
import { Overview } from "./overview";
import { Settings } from "./settings";
import { Teams } from "./teams";
import { Users } from "./users";

type Section = "overview" | "teams" | "users" | "deliveries" | "settings" | "audit";

const sections = valuesOfSet<Section>({ overview: true, teams: true, users: true, deliveries: true, settings: true, audit: true });

const views: Record<Section, ComponentType> = {
  overview: Overview,
  teams: Teams,
  users: Users,
  deliveries: Deliveries,
  settings: Settings,
  audit: Log,
};

export function Component() {
  const { admin } = useTexts();
  const { id = "overview" } = useParams();
  const section = find(sections, id);
  if (!section) return <NotFound instead={["/admin", admin.title]} />;
  const View = views[section];
  return (
    <Page title={section === "overview" ? admin.title : `${admin.title}: ${admin.sections[section]}`} lead={admin.lead}>
      <nav className={styles.sections} aria-label={admin.title}>
        {sections.map((each) => (
          <Link key={each} to={each === "overview" ? "/admin" : `/admin/${each}`} aria-current={each === section ? "page" : undefined}>
            {admin.sections[each]}
          </Link>
        ))}
      </nav>
      <View />
    </Page>
  );
}
