/** The incidents and planned maintenance of the team's status pages: drafts, open, scheduled and past ones. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { incidentsQuery, type Incident } from "../../../shared/api/incidents";
import { statuspagesQuery } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Plus, Wrench } from "../../../shared/ui/icons";
import { LoadMore } from "../../../shared/ui/load-more";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { Moment } from "../../../shared/ui/time";
import { useMayChangePages } from "../labels";
import { StatuspageTabs } from "../tabs";
import styles from "./incidents.module.css";
import { IncidentBadge } from "./labels";
import { sectionsOf } from "./values";

const PAST_STEPS = [20, 100, 1000];

export function IncidentList() {
  const { incidents: texts } = useTexts();
  const [limit, setLimit] = useState(20);
  const drafts = useQuery(incidentsQuery("draft"));
  const open = useQuery(incidentsQuery("open"));
  const past = useQuery(incidentsQuery("resolved", limit));
  const pages = useQuery(statuspagesQuery);
  const responds = useMayChangePages("respond");
  const all = [drafts, open, past, pages];
  const failed = all.find(({ error, data }) => error && !data);
  const isLoaded = drafts.data && open.data && past.data && pages.data;
  const may = responds && !!pages.data?.length;
  const isEmpty = isLoaded && drafts.data.length + open.data.length + past.data.length === 0;
  return (
    <Page title={texts.title} lead={texts.lead} actions={may && <MakeButtons />}>
      <StatuspageTabs current="/incidents" />
      {failed ? <ErrorNotice error={failed.error} retry={() => all.forEach(({ refetch }) => void refetch())} /> : !isLoaded && <Loading />}
      {isEmpty && (
        <Panel>
          <EmptyState title={texts.none}>
            <p className={styles.emptyWords}>{pages.data.length > 0 ? texts.noneHelp : texts.noPages}</p>
          </EmptyState>
        </Panel>
      )}
      {isLoaded && !isEmpty && (
        <>
          {Object.entries(sectionsOf(drafts.data, open.data)).map(([name, list]) => (
            <Section key={name} title={texts.sections[name as keyof typeof texts.sections]} list={list} />
          ))}
          <Section title={texts.sections.past} list={past.data} />
          <LoadMore shown={past.data.length} limit={limit} steps={PAST_STEPS} show={setLimit} />
        </>
      )}
    </Page>
  );
}

function MakeButtons() {
  const { incidents: texts } = useTexts();
  return (
    <>
      <Button variant="default" component={Link} to="/incident/new?kind=maintenance" leftSection={<Wrench />}>
        {texts.plan}
      </Button>
      <Button component={Link} to="/incident/new" leftSection={<Plus />}>
        {texts.new}
      </Button>
    </>
  );
}

function Section({ title, list }: { title: string; list: readonly Incident[] }) {
  if (list.length === 0) return null;
  return (
    <section className={styles.section}>
      <h2>{title}</h2>
      <ul className={styles.list}>
        {list.map((incident) => (
          <Row key={incident.incidentid} incident={incident} />
        ))}
      </ul>
    </section>
  );
}

function Row({ incident }: { incident: Incident }) {
  const { incidentid, title, started, scheduled_for, components, updates } = incident;
  const [newest] = updates;
  return (
    <li className={styles.row}>
      <div className={styles.names}>
        <span className={styles.title}>
          <Link to={`/incident/${incidentid}`}>{title}</Link>
          <IncidentBadge incident={incident} />
        </span>
        <span className={styles.quiet}>
          <Moment at={scheduled_for ?? started} />
          {components.length > 0 && ` · ${components.map(({ name }) => name).join(", ")}`}
        </span>
        {newest && <span className={styles.text}>{newest.body}</span>}
      </div>
    </li>
  );
}
