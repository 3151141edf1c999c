/** What the checks of an outage saw, the check that says most first. */
import { useTexts } from "../../../shared/i18n";
import { CopyLine } from "../../../shared/ui/copy-line";
import { Panel } from "../../../shared/ui/page";
import { Moment } from "../../../shared/ui/time";
import { Phases } from "../check-result";
import type { Detail } from "./data";
import { curlOf } from "./curl";
import styles from "./evidence.module.css";

type Record = Detail["evidence"][number];

export function EvidencePanel({ evidence }: { evidence: readonly Record[] }) {
  const { evidence: t } = useTexts();
  if (evidence.length === 0) return null;
  return (
    <Panel title={t.title} lead={t.lead}>
      {evidence.map((record, place) => (
        <details key={record.evidenceid} className={styles.record} open={place === 0}>
          <summary>
            <b>{t.of[record.of]}</b> <Moment at={record.at} /> <span className={styles.message}>{record.message}</span>
          </summary>
          <Content record={record} />
        </details>
      ))}
    </Panel>
  );
}

function Content({ record }: { record: Record }) {
  const { evidence: t } = useTexts();
  const { request, response, connection, certificate, resolved, hops, transcript, assertions } = record;
  const facts = [
    [t.reason, record.reason && (t.reasons[record.reason] ?? record.reason)],
    [t.region, record.region],
    [t.resolved, resolved?.addresses.join(", ")],
    [t.address, connection?.address],
    [t.httpVersion, connection?.http_version],
    [t.tls, connection?.tls && `${connection.tls.version} ${connection.tls.cipher}`],
    [t.certificate, certificate && `${certificate.subject || certificate.names.join(", ")} (${certificate.issuer})`],
    [t.expires, certificate?.expires],
    [t.fingerprint, certificate?.fingerprint],
    [t.hops, hops.map(({ status, location }) => `${status} → ${location}`).join(", ")],
  ].filter(([, value]) => value);
  return (
    <div className={styles.content}>
      <dl className={styles.facts}>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="code">{value}</dd>
          </div>
        ))}
      </dl>
      <Phases beat={record} />
      {assertions.length > 0 && (
        <ul className={styles.assertions} aria-label={t.assertions}>
          {assertions.map(({ index, passed, message, found }) => (
            <li key={index} data-passed={passed || undefined}>
              {passed ? t.passed(index + 1, found ?? "–") : message}
            </li>
          ))}
        </ul>
      )}
      {request && (
        <>
          <Text title={t.request} text={[`${request.method} ${request.url}`, ...request.headers.map(line)].join("\n")} />
          <CopyLine label={t.curl} value={curlOf(request)} wrap />
        </>
      )}
      {response && (
        <Text
          title={t.response}
          text={[String(response.status), ...response.headers.map(line), "", response.body + (response.truncated ? " …" : "")].join("\n")}
        />
      )}
      {transcript.length > 0 && <Text title={t.transcript} text={transcript.join("\n")} />}
    </div>
  );
}

function line([name = "", value = ""]: string[]): string {
  return `${name}: ${value}`;
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <section>
      <h3 className={styles.heading}>{title}</h3>
      {/* It scrolls, so it must be reachable with the keyboard. */}
      <pre className={styles.text} tabIndex={0} aria-label={title}>
        {text.split("[redacted]").flatMap((part, place) => (place === 0 ? [part] : [<mark key={place}>[redacted]</mark>, part]))}
      </pre>
    </section>
  );
}
