/** The state of the installation in numbers, and what is wrong. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useLanguage, useTexts } from "../../shared/i18n";
import { translate } from "../../shared/i18n/service";
import { Badge } from "../../shared/ui/badge";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { Ago, Milliseconds } from "../../shared/ui/time";
import styles from "./admin.module.css";
import { bytes } from "./bytes";
import { overviewQuery, type Queue } from "./data";

/** How many of the largest tables are shown. */
const MAX_TABLES = 8;

export function Overview() {
  const { admin, service } = useTexts();
  const { locale } = useLanguage();
  const { data, error, refetch } = useQuery(overviewQuery);
  if (error && !data) return <ErrorNotice error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  const { counts, database, health, nodes, regions } = data;
  const number = (count: number) => count.toLocaleString(locale);
  return (
    <>
      <Panel title={admin.health}>
        <ul>
          {health.map(({ check, ok, message }) => (
            <li key={check} className={styles.line}>
              <Badge tone={ok ? "up" : "down"}>{ok ? admin.ok : admin.problem}</Badge>
              <span>
                <b>{admin.checks[check] ?? check}</b> {translate(message, service)}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={admin.figures}>
        <dl className={styles.figures}>
          <Figure name={admin.version}>{data.version}</Figure>
          <Figure name={admin.sections.teams}>{admin.ofWhichSuspended(number(counts.teams), counts.suspended_teams)}</Figure>
          <Figure name={admin.sections.users}>{admin.ofWhichSuspended(number(counts.users), counts.suspended_users)}</Figure>
          <Figure name={admin.admins}>{number(counts.admins)}</Figure>
          <Figure name={admin.monitors}>{number(counts.monitors)}</Figure>
          <Figure name={database.name}>{bytes(database.bytes, locale)}</Figure>
          <Waiting name={admin.mail} queue={data.mail} />
          <Waiting name={admin.notifications} queue={data.deliveries} />
        </dl>
      </Panel>
      {nodes.length > 0 && (
        <Panel title={admin.nodes}>
          <ul>
            {nodes.map(({ name, version, live, slots, started }) => (
              <li key={`${name} ${started}`} className={styles.line}>
                <Badge tone={live ? "up" : "down"}>{live ? admin.live : admin.silent}</Badge>
                <span>
                  <b>{name}</b> {version}, {admin.slots(slots)}, <Ago at={started} />
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title={admin.regions}>
        <ul>
          {regions.map(({ region, probes }) => (
            <li key={region} className={styles.line}>
              <span>
                <b>{region}</b>{" "}
                {probes.map(({ name, version, lag }) => (
                  <span key={name} className={styles.quiet}>
                    {name} {version}, {admin.lag} <Milliseconds ms={lag} />{" "}
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      {database.tables.length > 0 && (
        <Panel title={admin.tables}>
          <dl className={styles.figures}>
            {database.tables.slice(0, MAX_TABLES).map((table) => (
              <Figure key={table.name} name={table.name}>
                {bytes(table.bytes, locale)}
              </Figure>
            ))}
          </dl>
        </Panel>
      )}
    </>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="num">{children}</dd>
    </div>
  );
}

function Waiting({ name, queue: { waiting, failing, oldest } }: { name: string; queue: Queue }) {
  const { admin } = useTexts();
  return (
    <Figure name={name}>
      {admin.waiting(waiting, failing)}
      {oldest && (
        <>
          , {admin.oldest} <Ago at={oldest} />
        </>
      )}
    </Figure>
  );
}
