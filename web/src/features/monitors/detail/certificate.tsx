/** The target's current certificate: its names, its issuer and when it expires. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useNow } from "../../../shared/lib/now";
import { useTexts } from "../../../shared/i18n";
import { Badge } from "../../../shared/ui/badge";
import { Panel } from "../../../shared/ui/page";
import { Day } from "../../../shared/ui/time";
import type { Monitor } from "../data";
import { certificateQuery } from "./data";
import styles from "./detail.module.css";
import { certificateNames, daysLeft, distrustReason, shortName, toneOf } from "./expiry";

export function CertificatePanel({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const now = useNow();
  const { data, refetch } = useQuery(certificateQuery(monitor));
  const { last_check } = monitor;
  // There are no events for certificates, so the first one is fetched after a check.
  const awaited = data === null && (!!monitor.tls || monitor.http?.url.startsWith("https:") === true);
  useEffect(() => {
    if (awaited) void refetch();
  }, [awaited, last_check, refetch]);
  if (!data) return null;
  const reason = distrustReason(data, now);
  return (
    <Panel
      title={t.certificate.title}
      lead={reason === null ? undefined : <span className={styles.bad}>{t.certificate.untrusted[reason]}</span>}
      actions={<Badge tone={toneOf(data, now)}>{t.certificate.left(daysLeft(data, now))}</Badge>}
    >
      <dl className={styles.pairs}>
        <div>
          <dt>{t.certificate.for}</dt>
          <dd>{certificateNames(data)}</dd>
        </div>
        <div>
          <dt>{t.certificate.by}</dt>
          <dd>{shortName(data.issuer)}</dd>
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
                  // A chain may contain the same certificate twice, so the index is the key.
                  <li key={place}>
                    {shortName(signer.subject)}{" "}
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
