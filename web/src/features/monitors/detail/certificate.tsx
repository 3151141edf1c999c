/** The certificate that the target showed last: whose, by whom, and for how long. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useNow } from "../../../shared/lib/now";
import { useTexts } from "../../../shared/i18n";
import { Badge } from "../../../shared/ui/badge";
import { Panel } from "../../../shared/ui/page";
import { Day } from "../../../shared/ui/time";
import { certificate, type Monitor } from "../data";
import styles from "./detail.module.css";
import { called, daysLeft, doubtOf, holders, toneOf } from "./expiry";

export function CertificatePanel({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const now = useNow();
  const { data, refetch } = useQuery(certificate(monitor));
  const { last_check } = monitor;
  // There are no events for it; the check that shows the first one is heard of all the same.
  const awaited = data === null && monitor.http?.url.startsWith("https:") === true;
  useEffect(() => {
    if (awaited) void refetch();
  }, [awaited, last_check, refetch]);
  if (!data) return null;
  const doubt = doubtOf(data, now);
  return (
    <Panel
      title={t.certificate.title}
      lead={doubt === null ? undefined : <span className={styles.bad}>{t.certificate.doubts[doubt]}</span>}
      actions={<Badge tone={toneOf(data, now)}>{t.certificate.left(daysLeft(data, now))}</Badge>}
    >
      <dl className={styles.pairs}>
        <div>
          <dt>{t.certificate.for}</dt>
          <dd>{holders(data)}</dd>
        </div>
        <div>
          <dt>{t.certificate.by}</dt>
          <dd>{called(data.issuer)}</dd>
        </div>
        <div>
          <dt>{t.certificate.expires}</dt>
          <dd>
            <Day at={data.expires} />
          </dd>
        </div>
        <div>
          <dt>{t.certificate.since}</dt>
          <dd>
            <Day at={data.since} />
          </dd>
        </div>
        {data.chain.length > 0 && (
          <div className={styles.wholeRow}>
            <dt>{t.certificate.chain}</dt>
            <dd>
              <ol className={styles.signers}>
                {data.chain.map((signer, place) => (
                  // One may be sent twice, so only its place tells it apart.
                  <li key={place}>
                    {called(signer.subject)}{" "}
                    <span className={styles.when}>
                      {t.certificate.until} <Day at={signer.expires} />
                    </span>
                  </li>
                ))}
              </ol>
            </dd>
          </div>
        )}
      </dl>
    </Panel>
  );
}
