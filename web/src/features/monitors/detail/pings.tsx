/** The latest pings of an api monitor, with what the job printed. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { exact } from "../../../shared/lib/time";
import { May } from "../../../shared/ui/may";
import { Panel } from "../../../shared/ui/page";
import { pingBodyQuery, pingsQuery, type Ping } from "./data";
import styles from "./detail.module.css";

export function Pings({ id }: { id: string }) {
  const t = useTexts();
  const { data } = useQuery(pingsQuery(id));
  if (!data || data.length === 0) return null;
  return (
    <Panel title={t.push.pings} lead={t.push.pingsLead}>
      <ol className={styles.pings}>
        {data.map((ping) => (
          <PingRow key={ping.n} id={id} ping={ping} />
        ))}
      </ol>
    </Panel>
  );
}

function PingRow({ id, ping }: { id: string; ping: Ping }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const kind = t.push.kinds[ping.type] ?? ping.type;
  return (
    <li>
      <span>{exact(Date.parse(ping.at), locale)}</span> <strong>{kind}</strong>
      {typeof ping.exit_code === "number" && <span> {t.push.exitCode(ping.exit_code)}</span>}
      {typeof ping.duration === "number" && <span> {t.push.took((ping.duration / 1000).toFixed(1))}</span>}
      {ping.bytes > 0 && (
        <May do="edit">
          <Button variant="subtle" size="compact-sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t.push.hideOutput : t.push.showOutput}
          </Button>
        </May>
      )}
      {isOpen && <Output id={id} n={ping.n} />}
    </li>
  );
}

function Output({ id, n }: { id: string; n: number }) {
  const { data } = useQuery(pingBodyQuery(id, n));
  return <pre className={styles.output}>{data ?? ""}</pre>;
}
