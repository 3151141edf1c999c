/** One maintenance window: when it happens, what it covers, and what can be done with it. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { isNotFound } from "../../shared/api/error";
import { maintenanceQuery, type Maintenance, type Occurrence } from "../../shared/api/maintenances";
import { covers } from "../../shared/lib/selector";
import { monitorsQuery } from "../../shared/api/monitors";
import { notifiersQuery } from "../../shared/api/notifiers";
import { interval } from "../../shared/lib/time";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Link, useNavigate } from "../../shared/router";
import { ActionMenu } from "../../shared/ui/action-menu";
import { DetailLayout, Fact, Facts } from "../../shared/ui/detail-layout";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { ExpandableText } from "../../shared/ui/expandable-text";
import { Check, Chevron, More, Pencil } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { NotFound } from "../../shared/ui/not-found";
import { Page, Panel } from "../../shared/ui/page";
import { Moment } from "../../shared/ui/time";
import { dateText } from "./dates";
import { ExtendItems, RareItems, useWindowActions } from "./actions";
import { Effects, WindowStatus } from "./labels";
import { useMayChange } from "../../shared/api/limited";
import styles from "./maintenance.module.css";
import { ruleText, Times } from "./times";

export function WindowPage({ id }: { id: string }) {
  const t = useTexts();
  const { data, error, isPending, refetch } = useQuery(maintenanceQuery(id));
  if (isPending || (!data && !isNotFound(error))) {
    return <Page title={t.maintenance.title}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (!data || isNotFound(error)) return <NotFound instead={["/maintenance", t.maintenance.title]} />;
  return <Detail key={id} window={data.maintenance} occurrences={data.occurrences} />;
}

function Detail({ window, occurrences }: { window: Maintenance; occurrences: Occurrence[] }) {
  const t = useTexts();
  const { maintenance } = t;
  const { locale } = useLanguage();
  const mayChange = useMayChange();
  const past = pastOf(window);
  return (
    <DetailLayout
      title={window.name}
      badge={<WindowStatus status={window.status} />}
      back={["/maintenance", maintenance.title]}
      under={
        <>
          <span>{ruleText(window, locale, t)}</span>
          <span>{window.time_zone}</span>
          <Effects window={window} />
        </>
      }
      actions={mayChange(window) && <Actions window={window} />}
    >
      <WindowFacts window={window} />
      {window.description !== "" && (
        <Panel title={maintenance.form.description}>
          <ExpandableText text={window.description} />
        </Panel>
      )}
      <Panel title={past ? maintenance.last : maintenance.times}>
        {occurrences.length + (past ? 1 : 0) === 0 ? (
          <p className={styles.quiet}>{maintenance.noTimes}</p>
        ) : (
          <Times occurrences={past ? [past] : occurrences} zone={window.time_zone} />
        )}
        {window.except.length > 0 && (
          <p className={styles.quiet}>
            {maintenance.form.except}: {window.except.map((date) => dateText(date, locale)).join(", ")}
          </p>
        )}
      </Panel>
      <Covered window={window} />
    </DetailLayout>
  );
}

/** The time of a window that is over and happened once. */
function pastOf({ status, ends, duration }: Maintenance): Occurrence | null {
  if (status !== "ended" || !ends || !duration) return null;
  return { from: new Date(Date.parse(ends) - duration * 1000).toISOString(), to: ends };
}

function Actions({ window }: { window: Maintenance }) {
  const t = useTexts();
  const { maintenance } = t;
  const navigate = useNavigate();
  const actions = useWindowActions(window, () => void navigate("/maintenance", { replace: true }));
  return (
    <>
      {window.status === "running" && (
        <Button leftSection={<Check />} onClick={() => actions.ask("end")}>
          {maintenance.end}
        </Button>
      )}
      {actions.isExtendable && (
        <ActionMenu
          width={170}
          button={
            <Button variant="default" rightSection={<Chevron />} loading={actions.busy}>
              {maintenance.extend}
            </Button>
          }
        >
          <ExtendItems actions={actions} />
        </ActionMenu>
      )}
      <Button variant="default" leftSection={<Pencil />} component={Link} to={`/maintenance/${window.maintenanceid}/edit`}>
        {maintenance.edit}
      </Button>
      <ActionMenu
        width={180}
        button={
          <Button variant="default" px={10} aria-label={t.monitors.moreActions}>
            <More />
          </Button>
        }
      >
        <RareItems window={window} actions={actions} />
      </ActionMenu>
      {actions.dialogs}
    </>
  );
}

function WindowFacts({ window }: { window: Maintenance }) {
  const { maintenance } = useTexts();
  const { current, next, duration, grace, monitors_covered, announce } = window;
  const { data: notifiers } = useQuery({ ...notifiersQuery, enabled: announce.notifiers.length > 0 });
  const announced = announce.notifiers.flatMap((id) => notifiers?.find(({ notifierid }) => notifierid === id)?.name ?? []);
  const [first] = next;
  return (
    <Facts>
      {current && (
        <Fact label={maintenance.since}>
          <Moment at={current.from} />
        </Fact>
      )}
      {current && <Fact label={maintenance.until}>{current.to ? <Moment at={current.to} /> : maintenance.untilEnded}</Fact>}
      {!current && first && (
        <Fact label={maintenance.next}>
          <Moment at={first.from} />
        </Fact>
      )}
      {duration && <Fact label={maintenance.form.duration}>{interval(duration)}</Fact>}
      {grace > 0 && <Fact label={maintenance.form.grace}>{interval(grace)}</Fact>}
      {announced.length > 0 && <Fact label={maintenance.form.announceTo}>{announced.join(", ")}</Fact>}
      <Fact label={maintenance.monitors}>{monitors_covered}</Fact>
    </Facts>
  );
}

const MAX_SHOWN = 48;

function Covered({ window }: { window: Maintenance }) {
  const { maintenance } = useTexts();
  const { data } = useQuery(monitorsQuery);
  const list = data?.filter((monitor) => covers(window, monitor)).sort((a, b) => a.name.localeCompare(b.name));
  const groups = window.groups.flatMap((id) => data?.find(({ monitorid }) => monitorid === id)?.name ?? []);
  const parts = [...window.tags, ...window.all_tags, ...groups.map(maintenance.membersOf)];
  const shown = list?.slice(0, MAX_SHOWN) ?? [];
  // Those that it covers through groups and dependencies are only counted.
  const more = Math.max(window.monitors_covered, list?.length ?? 0) - shown.length;
  return (
    <Panel title={maintenance.monitors} lead={maintenance.monitorsLead}>
      {parts.length > 0 && (
        <ul className={styles.tags}>
          {parts.map((part) => (
            <li key={part}>{part}</li>
          ))}
        </ul>
      )}
      {!list && <Loading />}
      {list && shown.length + more === 0 && <p className={styles.quiet}>{maintenance.noMonitors}</p>}
      {list && shown.length + more > 0 && (
        <ul className={styles.covered}>
          {shown.map(({ monitorid, name }) => (
            <li key={monitorid}>
              <Link to={`/monitor/${monitorid}`}>{name}</Link>
            </li>
          ))}
          {more > 0 && <li className={styles.quiet}>{shown.length === 0 ? maintenance.covers(more) : maintenance.andMore(more)}</li>}
        </ul>
      )}
    </Panel>
  );
}
