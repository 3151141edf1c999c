/** What the checks of an outage saw, the check that says most first. */
import type { ReactNode } from "react";
import { useTexts } from "../../../shared/i18n";
import { CopyLine } from "../../../shared/ui/copy-line";
import { Panel } from "../../../shared/ui/page";
import { Day, Moment } from "../../../shared/ui/time";
import { Phases } from "../check-result";
import { certificateNames, distrustReason, shortName } from "../detail/expiry";
import type { Detail } from "./data";
import { curlOf } from "./curl";
import styles from "./evidence.module.css";

type Record = Detail["evidence"][number];
type Shown = NonNullable<Record["certificate"]>;

interface Props {
  evidence: readonly Record[];
  title?: string;
  /** Whether the first one is open. */
  open?: boolean;
  actions?: ReactNode;
}

export function EvidencePanel({ evidence, title, open = true, actions }: Props) {
  const { evidence: t } = useTexts();
  if (evidence.length === 0) return null;
  return (
    <Panel title={title ?? t.title} lead={t.lead} actions={actions}>
      {evidence.map((record, place) => (
        <details key={record.evidenceid} className={styles.record} open={open && place === 0}>
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
    [t.fingerprint, certificate?.fingerprint],
    [t.key, certificate?.key],
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
      {certificate && <Chain certificate={certificate} at={Date.parse(record.at)} />}
      <Phases beat={record} />
      {assertions.length > 0 && (
        <ul className={styles.assertions} aria-label={t.assertions}>
          {assertions.map(({ index, passed, fails_as, message, found }) => (
            <li key={index} data-result={passed ? "passed" : fails_as}>
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

/** The certificates that the server presented, its own first, and why they are not trusted. */
function Chain({ certificate, at }: { certificate: Shown; at: number }) {
  const t = useTexts();
  const reason = distrustReason(certificate, at);
  const own = { ...certificate, subject: certificateNames(certificate) };
  return (
    <section>
      <h3 className={styles.heading}>{t.evidence.chain}</h3>
      {reason && <p className={styles.distrusted}>{t.certificate.untrusted[reason]}</p>}
      <ol className={styles.chain} aria-label={t.evidence.chain}>
        {[own, ...certificate.chain].map(({ subject, issuer, expires }, place) => (
          // A chain may contain the same certificate twice, so the index is the key.
          <li key={place}>
            {shortName(subject)}, {t.evidence.issuedBy(shortName(issuer))}, {t.certificate.until} <Day at={expires} />
          </li>
        ))}
      </ol>
    </section>
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
