/** Who would be notified of an alert of a monitor, as a timeline. Nothing is sent. */
import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { alertKinds, severities } from "../../../shared/api/alerting-sets";
import { find, type AlertKind, type Severity } from "../../../shared/api/closed-sets";
import { policiesQuery } from "../../../shared/api/policies";
import { useTexts } from "../../../shared/i18n";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { FieldPair } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { useMonitorOptions } from "../../../shared/ui/selector-fields";
import { Moment } from "../../../shared/ui/time";
import line from "../../../shared/ui/timeline.module.css";
import styles from "../oncall.module.css";
import { timeText } from "../policies/timeline";
import marks from "../timeline.module.css";
import { triedQuery, type Tried, type TriedMessage, type TryRouting } from "./data";
import { reasonText, recipientText } from "./reasons";

/** How many monitors the list offers at once; the others are found by name. */
const MAX_OPTIONS = 100;
const NONE: string[] = [];

type Trial = TryRouting & { at: string };

export function TrialPanel({ revision, dirty }: { revision: number; dirty: boolean }) {
  const { routing, alerts } = useTexts();
  const [monitorid, setMonitor] = useState<string | null>(null);
  const [severity, setSeverity] = useState<Severity | "">("");
  const [kind, setKind] = useState<AlertKind>("outage");
  const [at, setAt] = useState("");
  const monitors = useMonitorOptions(NONE);
  // The present is that of the last change: a clock that runs would send a request every time it ticks.
  const [now, setNow] = useState(Date.now);
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setNow(Date.now());
      set(value);
    };
  const time = new Date(at === "" ? now : at).toISOString();
  const body: Trial | null = monitorid === null ? null : { monitorid, kind, at: time, ...(severity !== "" && { severity }) };
  return (
    <Panel title={routing.try} lead={routing.tryLead}>
      <div className={page.fields}>
        <FieldPair>
          <Select
            label={alerts.monitor}
            placeholder={routing.tryMonitor}
            data={monitors}
            limit={MAX_OPTIONS}
            searchable
            value={monitorid}
            onChange={change(setMonitor)}
          />
          <Select
            label={alerts.severity}
            data={[{ value: "", label: routing.asMonitor }, ...severities.map((value) => ({ value, label: alerts.severities[value] }))]}
            allowDeselect={false}
            value={severity}
            onChange={(word) => change(setSeverity)(find(severities, word) ?? "")}
          />
        </FieldPair>
        <FieldPair>
          <Select
            label={routing.kind}
            description={routing.kindHelp}
            data={alertKinds.map((value) => ({ value, label: routing.kinds[value] }))}
            allowDeselect={false}
            value={kind}
            onChange={(word) => change(setKind)(find(alertKinds, word) ?? "outage")}
          />
          <TextInput
            type="datetime-local"
            label={routing.tryAt}
            description={routing.tryAtHelp}
            value={at}
            onChange={({ currentTarget }) => change(setAt)(currentTarget.value)}
          />
        </FieldPair>
      </div>
      {dirty && body && <p className={styles.note}>{routing.trySaved}</p>}
      {body && <Result body={body} revision={revision} />}
    </Panel>
  );
}

function Result({ body, revision }: { body: Trial; revision: number }) {
  const t = useTexts();
  const { routing, alerts } = t;
  const { data, error, refetch } = useQuery(triedQuery(body, revision));
  const { data: policies = [] } = useQuery(policiesQuery);
  if (!data) return error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />;
  const policy = policies.find(({ policyid }) => policyid === data.policyid)?.name;
  return (
    <div className={styles.tried} role="region" aria-label={routing.tryResult}>
      <p>
        {alerts.severity}: <b>{alerts.severities[data.severity]}</b>
        {policy !== undefined && (
          <>
            {" · "}
            {t.escalation.policy}: <b>{policy}</b>
          </>
        )}
        {" · "}
        {data.rules.length > 0 ? routing.matching(data.rules.join(", ")) : routing.noMatching}
      </p>
      {data.suppressed_by && (
        <p className={styles.covered}>
          {routing.suppressed[data.suppressed_by.reason](data.suppressed_by.name)}{" "}
          {data.suppressed_by.until && (
            <>
              {alerts.suppressedUntil} <Moment at={data.suppressed_by.until} />
            </>
          )}
        </p>
      )}
      {data.notified.length === 0 ? (
        <p className={marks.missing}>{routing.nobody}</p>
      ) : (
        <Messages tried={data} begin={Date.parse(body.at)} />
      )}
    </div>
  );
}

/** The messages by time. */
function byTime(messages: readonly TriedMessage[]): [at: string, messages: TriedMessage[]][] {
  return [...new Set(messages.map(({ at }) => at))].map((at) => [at, messages.filter((message) => message.at === at)]);
}

function Messages({ tried: { notified }, begin }: { tried: Tried; begin: number }) {
  const t = useTexts();
  const { routing, escalation } = t;
  return (
    <ol className={line.timeline} aria-label={routing.tryResult}>
      {byTime(notified).map(([at, messages]) => (
        <li key={at} data-kind="person">
          <span className={line.at}>{timeText(Math.round((Date.parse(at) - begin) / 1000), escalation)}</span>
          <div className={line.entry}>
            {messages.map((message, place) => (
              <p key={place}>
                <b>{recipientText(message.notifier, t)}</b> <span className={marks.why}>{reasonText(message.why, t)}</span>
                {message.waits_until && (
                  <span className={marks.waits}>
                    {" "}
                    {routing.waits} <Moment at={message.waits_until} />
                  </span>
                )}
              </p>
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}
