/** The latest result of each region, if a monitor is checked from several. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTexts } from "../../../shared/i18n";
import { Badge } from "../../../shared/ui/badge";
import { Panel } from "../../../shared/ui/page";
import { Milliseconds, Moment } from "../../../shared/ui/time";
import { beatsQuery, stateOfBeat, type Heartbeat, type Monitor } from "../data";
import { LOCAL, regionsQuery } from "../regions";
import { StatusMark } from "../status";
import styles from "./detail.module.css";

export function RegionsPanel({ monitor, room }: { monitor: Monitor; room: number }) {
  const t = useTexts();
  const { data: list } = useQuery(beatsQuery(monitor.monitorid, room));
  const { data: known } = useQuery(regionsQuery);
  const last = list?.findLast((beat) => beat.regions.length > 0);
  return (
    <Panel title={t.regions.title} lead={t.regions.quorum(monitor.quorum, monitor.regions.length)}>
      <RegionRows>
        {monitor.regions.map((name) => (
          <RegionRow
            key={name}
            name={name}
            problem={known?.find(({ region }) => region === name)?.problem ?? null}
            seen={last?.regions.find(({ region }) => region === name)}
            at={last?.at}
          />
        ))}
      </RegionRows>
    </Panel>
  );
}

export function RegionRows({ children }: { children: ReactNode }) {
  return <ul className={styles.places}>{children}</ul>;
}

type RegionBeat = Heartbeat["regions"][number];

export function RegionRow({
  name,
  problem,
  seen,
  at,
}: {
  name: string;
  problem: string | null;
  seen: RegionBeat | undefined;
  at: string | undefined;
}) {
  const t = useTexts();
  const state = seen ? stateOfBeat(seen.status) : "pending";
  const words = seen ? t.monitors.results[seen.status] : t.regions.notYet;
  return (
    <li>
      <StatusMark state={state} size={12} />
      <b>{name === LOCAL ? t.regions.local : name}</b>
      <span className={styles.message}>
        {words}
        {seen && seen.message !== "" && `: ${seen.message}`}
        {problem !== null && (
          <>
            {" "}
            <Badge tone="wait">{t.regions.noProbe}</Badge>
          </>
        )}
      </span>
      <span className={styles.when}>{seen && at !== undefined && <Moment at={at} />}</span>
      <span className={`${styles.load ?? ""} num`}>
        <Milliseconds ms={seen?.load_time} />
      </span>
    </li>
  );
}
