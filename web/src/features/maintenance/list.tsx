/** The maintenance windows of the team: running, upcoming and past ones, as a list or by month. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { maintenancesQuery, type Maintenance } from "../../shared/api/maintenances";
import { useMay } from "../../shared/api/session";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Link, useSearchParams } from "../../shared/router";
import { EmptyState } from "../../shared/ui/empty-state";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { More, Plus } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { Page, Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import { WindowMenu } from "./actions";
import { CurrentTime, Effects, WindowStatus } from "./labels";
import { useMayChange } from "../../shared/api/limited";
import styles from "./maintenance.module.css";
import { MonthView } from "./month-view";
import { sectionsOf } from "./sections";
import { ruleText } from "./times";

const views = ["list", "month"] as const;

export function WindowList() {
  const t = useTexts();
  const { maintenance } = t;
  const { data, error, isPending, refetch } = useQuery(maintenancesQuery);
  const responds = useMay("respond");
  const [search, setSearch] = useSearchParams();
  const view = search.get("view") === "month" ? "month" : "list";
  const make = responds && (
    <Button component={Link} to="/maintenance/new" leftSection={<Plus />}>
      {maintenance.new}
    </Button>
  );
  const isEmpty = data?.length === 0;
  return (
    <Page title={maintenance.title} lead={maintenance.lead} actions={data && !isEmpty ? make : undefined}>
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {isEmpty && (
        <Panel>
          <EmptyState title={maintenance.none}>
            {responds && <p className={styles.emptyWords}>{maintenance.noneHelp}</p>}
            {make}
          </EmptyState>
        </Panel>
      )}
      {data && !isEmpty && (
        <>
          <div className={styles.views}>
            <SegmentedControl
              label={maintenance.views}
              choices={views.map((each) => [each, maintenance.viewNames[each]] as const)}
              chosen={view}
              choose={(each) => setSearch(new URLSearchParams(each === "month" ? { view: each } : {}), { replace: true })}
            />
          </div>
          {view === "month" ? <MonthView windows={data} /> : <Sections windows={data} />}
        </>
      )}
    </Page>
  );
}

function Sections({ windows }: { windows: Maintenance[] }) {
  const { maintenance } = useTexts();
  const mayChange = useMayChange();
  return sectionsOf(windows).map(([name, list]) => (
    <section key={name} className={styles.section}>
      <h2>{maintenance.sections[name]}</h2>
      <ul className={styles.list}>
        {list.map((window) => (
          <Row key={window.maintenanceid} window={window} changeable={mayChange(window)} />
        ))}
      </ul>
    </section>
  ));
}

function Row({ window, changeable }: { window: Maintenance; changeable: boolean }) {
  const t = useTexts();
  const { maintenance } = t;
  const { locale } = useLanguage();
  const { maintenanceid, name, status, everything, monitors_covered } = window;
  return (
    <li className={styles.row} data-status={status}>
      <div className={styles.names}>
        <span className={styles.title}>
          <Link to={`/maintenance/${maintenanceid}`}>{name}</Link>
          <WindowStatus status={status} />
        </span>
        <span>
          <CurrentTime window={window} />
        </span>
        {(window.rrule || window.cron) && (
          <span className={styles.quiet}>
            {ruleText(window, locale, t)} ({window.time_zone})
          </span>
        )}
      </div>
      <div className={styles.what}>
        <span>{everything ? `${maintenance.coversAll} (${monitors_covered})` : maintenance.covers(monitors_covered)}</span>
        <Effects window={window} />
      </div>
      {changeable && (
        <WindowMenu
          window={window}
          button={
            <button type="button" className={styles.more} aria-label={maintenance.actions(name)}>
              <More />
            </button>
          }
        />
      )}
    </li>
  );
}
