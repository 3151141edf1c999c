/** One alert: its state, what can be done about it, and its timeline. */
import { Button, Menu, Textarea } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { severities } from "../../../shared/api/alerting-sets";
import { isNotFound } from "../../../shared/api/error";
import { useIsLimited } from "../../../shared/api/limited";
import { useMe } from "../../../shared/api/session";
import { statuspagesQuery } from "../../../shared/api/statuspages";
import { teamQuery } from "../../../shared/api/team";
import { useNow } from "../../../shared/lib/now";
import { exact, span } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Link, useParams } from "../../../shared/router";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { DetailLayout, Fact, Facts } from "../../../shared/ui/detail-layout";
import { ErrorNotice, FormError } from "../../../shared/ui/error-notice";
import { ExpandableText } from "../../../shared/ui/expandable-text";
import { useForm } from "../../../shared/ui/form";
import { Check, Chevron } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { May } from "../../../shared/ui/may";
import { NotFound } from "../../../shared/ui/not-found";
import { Page, Panel } from "../../../shared/ui/page";
import { Moment } from "../../../shared/ui/time";
import { showToast } from "../../../shared/ui/toast";
import { useRun } from "../../../shared/ui/use-run";
import type { Alert } from "../data";
import { AffectedPanel } from "./affected";
import styles from "./alert.module.css";
import { causeOf } from "./cause";
import { alertQuery, changeAlert, type Detail, type SingleAction } from "./data";
import { EvidencePanel } from "./evidence";
import { Responses, SeverityLabel, StatusLabel } from "./labels";
import { RegionResults } from "./region-results";
import { ResolveDialog, SnoozeMenu } from "./respond";
import { Timeline } from "./timeline";
import { hasDuration, isActionable } from "./view";

const MINUTE = 60_000;

export function Component() {
  const t = useTexts();
  const { id = "" } = useParams();
  const { data, error, isPending, refetch } = useQuery(alertQuery(id));
  if (isPending || (!data && !isNotFound(error))) {
    return <Page title={t.nav.alerts}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (!data || isNotFound(error)) return <NotFound instead={["/alerts", t.nav.alerts]} />;
  return <AlertPage key={id} detail={data} />;
}

function AlertPage({ detail }: { detail: Detail }) {
  const { alert, timeline, evidence } = detail;
  const t = useTexts();
  const { locale } = useLanguage();
  const { name, monitorid } = alert.monitor;
  return (
    <DetailLayout
      title={t.alerts.alertOf(name)}
      badge={<StatusLabel alert={alert} />}
      back={["/alerts", t.nav.alerts]}
      under={
        <>
          <SeverityLabel severity={alert.severity} />
          <Link to={`/monitor/${monitorid}`}>{name}</Link>
          <Responses alert={alert} />
          <NextStep alert={alert} />
        </>
      }
      actions={
        <May do="respond">
          <Actions alert={alert} />
          <WriteIncident monitorid={monitorid} />
        </May>
      }
    >
      <AlertFacts alert={alert} />
      <Panel>
        <p className={styles.cause}>
          <ExpandableText text={causeOf(alert, t, locale)} />
        </p>
      </Panel>
      <EvidencePanel evidence={evidence} />
      {alert.kind !== "certificate" && alert.kind !== "domain" && <RegionResults detail={detail} />}
      {alert.affected && <AffectedPanel affected={alert.affected} />}
      <Panel title={t.alerts.timeline} lead={t.alerts.timelineLead}>
        <Timeline entries={timeline} about={name} />
        <May do="respond">
          <Comment alertid={alert.alertid} />
        </May>
      </Panel>
    </DetailLayout>
  );
}

/** The escalation step that follows unless somebody responds. */
function NextStep({ alert: { next_step } }: { alert: Alert }) {
  const { alerts } = useTexts();
  const { locale } = useLanguage();
  const now = useNow();
  if (!next_step) return null;
  const names = new Intl.ListFormat(locale, { type: "conjunction" }).format(next_step.notifies);
  const left = Date.parse(next_step.at) - now;
  return (
    <span className={styles.next}>
      {alerts.nextStep(next_step.step, names || alerts.nextNobody)}{" "}
      <time dateTime={next_step.at} title={exact(Date.parse(next_step.at), locale)}>
        {left < MINUTE ? alerts.nextSoon : alerts.nextIn(span(Math.ceil(left / MINUTE) * MINUTE))}
      </time>
    </span>
  );
}

function AlertFacts({ alert }: { alert: Alert }) {
  const { alerts } = useTexts();
  const now = useNow();
  const isOutage = alert.kind === "outage";
  const until = alert.ended ? Date.parse(alert.ended) : now;
  return (
    <Facts>
      <Fact label={isOutage ? alerts.since : alerts.warned}>
        <Moment at={alert.started} />
      </Fact>
      {hasDuration(alert.kind) && <Fact label={alert.ended ? alerts.lasted : alerts.lasts}>{span(until - Date.parse(alert.started))}</Fact>}
      <Fact label={alerts.notified}>{alert.notified ? <Moment at={alert.notified} /> : alerts.notNotified}</Fact>
    </Facts>
  );
}

/** What can be done with an alert that lasts; a warning can only be commented on. */
function Actions({ alert }: { alert: Alert }) {
  const { alerts } = useTexts();
  const client = useQueryClient();
  const [busy, run] = useRun();
  const [resolving, setResolving] = useState(false);
  if (!isActionable(alert)) return null;
  const change = async (action: SingleAction, done: string) => {
    await changeAlert(client, alert.alertid, action);
    showToast(done);
  };
  const { done } = alerts;
  return (
    <>
      {alert.acknowledged ? (
        <Button variant="default" loading={busy} onClick={() => run(() => change({ do: "unacknowledge" }, done.unacknowledge))}>
          {alerts.unacknowledge}
        </Button>
      ) : (
        <Button leftSection={<Check />} loading={busy} onClick={() => run(() => change({ do: "acknowledge" }, done.acknowledge(1)))}>
          {alerts.acknowledge}
        </Button>
      )}
      <SnoozeMenu
        run={run}
        snooze={(span) => change({ do: "snooze", span }, done.snooze(1))}
        button={<MenuButton label={alerts.snooze} />}
      />
      <AssignMenu alert={alert} assign={(userid) => run(() => change({ do: "assign", userid }, done.assign))} />
      <ActionMenu width={170} button={<MenuButton label={alerts.severity} />}>
        {severities.map((severity) => (
          <Menu.Item
            key={severity}
            rightSection={severity === alert.severity && <Check />}
            aria-current={severity === alert.severity || undefined}
            onClick={() => run(() => change({ do: "severity", severity }, done.severity))}
          >
            {alerts.severities[severity]}
          </Menu.Item>
        ))}
      </ActionMenu>
      <Button variant="default" onClick={() => setResolving(true)}>
        {alerts.resolve}
      </Button>
      {resolving && (
        <ResolveDialog
          count={1}
          resolve={(comment) => change({ do: "resolve", comment }, done.resolve(1))}
          close={() => setResolving(false)}
        />
      )}
    </>
  );
}

/** For the visitors of a status page that shows the monitor. */
function WriteIncident({ monitorid }: { monitorid: string }) {
  const { incidents } = useTexts();
  const { data } = useQuery(statuspagesQuery);
  const limited = useIsLimited();
  if (!data?.length || limited) return null;
  return (
    <Button variant="default" component={Link} to={`/incident/new?monitor=${monitorid}`}>
      {incidents.writeFromAlert}
    </Button>
  );
}

/** `ref` and the rest are those of the menu. */
function MenuButton({ label, ...props }: { label: string }) {
  return (
    <Button variant="default" rightSection={<Chevron />} {...props}>
      {label}
    </Button>
  );
}

function AssignMenu({ alert, assign }: { alert: Alert; assign: (userid: string | null) => void }) {
  const { alerts } = useTexts();
  const me = useMe();
  const { data = [] } = useQuery(teamQuery);
  const members = data.filter(({ suspended }) => !suspended);
  const nameOf = ({ userid, name, email }: (typeof members)[number]) => (userid === me.userid ? alerts.me : name || email);
  const current = alert.assignee?.userid ?? null;
  return (
    <ActionMenu width={240} button={<MenuButton label={alerts.assign} />}>
      <Menu.Item rightSection={current === null && <Check />} aria-current={current === null || undefined} onClick={() => assign(null)}>
        {alerts.nobody}
      </Menu.Item>
      {members.map((member) => (
        <Menu.Item
          key={member.userid}
          rightSection={current === member.userid && <Check />}
          aria-current={current === member.userid || undefined}
          onClick={() => assign(member.userid)}
        >
          {nameOf(member)}
        </Menu.Item>
      ))}
    </ActionMenu>
  );
}

function Comment({ alertid }: { alertid: string }) {
  const { alerts } = useTexts();
  const client = useQueryClient();
  const form = useForm({ text: "" }, async ({ text }, set) => {
    await changeAlert(client, alertid, { do: "comment", text: text.trim() });
    set("text", "");
    showToast(alerts.done.comment);
  });
  return (
    <div className={styles.add}>
      <form className={styles.form} onSubmit={form.submit} noValidate>
        <Textarea
          name="text"
          label={alerts.comment}
          description={alerts.commentHelp}
          rows={2}
          maxLength={4000}
          value={form.values.text}
          error={form.errors.text}
          onChange={({ currentTarget }) => form.set("text", currentTarget.value)}
        />
        <FormError text={form.fault} />
        <Button type="submit" variant="default" loading={form.busy} disabled={form.values.text.trim() === ""}>
          {alerts.addComment}
        </Button>
      </form>
    </div>
  );
}
