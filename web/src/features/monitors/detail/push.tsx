/** Ready-made commands for a push monitor. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { interval } from "../../../shared/lib/time";
import { useTexts } from "../../../shared/i18n";
import { Confirm } from "../../../shared/ui/confirm";
import { CopyLine } from "../../../shared/ui/copy-line";
import { May } from "../../../shared/ui/may";
import { Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { showToast } from "../../../shared/ui/toast";
import type { Monitor } from "../data";
import { rotatePushUrl } from "./data";
import styles from "./detail.module.css";

const ways = ["wakeful run", "curl", "cron", "systemd", "PowerShell", "Python", "Alertmanager"] as const;
type Way = (typeof ways)[number];

/** A schedule that reports at least once in every interval. */
export function cron(seconds: number): string {
  const minutes = Math.max(1, Math.floor(seconds / 60));
  if (minutes < 60) return `*/${minutes} * * * *`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `0 */${hours} * * *` : "0 0 * * *";
}

/** What the examples need to know of a push monitor. */
interface Job {
  /** The push URL. */
  url: string;
  /** The ping URL, to which runs are reported. */
  ping: string;
  /** In seconds. */
  interval: number;
  /** Lines of cron or OnCalendar expressions, in the zone; empty if there is only the interval. */
  schedule: string;
  tz: string;
  postOnly: boolean;
}

export function jobOf({ push_url, ping_url, heartbeat_interval, api }: Monitor): Job {
  const url = push_url ?? "";
  const job = { url, ping: ping_url ?? url, interval: heartbeat_interval };
  return { ...job, schedule: api?.schedule ?? "", tz: api?.tz ?? "UTC", postOnly: api?.post_only ?? false };
}

/** The lines of a schedule, as the service distinguishes them. */
function linesOf(schedule: string): { crons: string[]; calendars: string[] } {
  const lines = schedule
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const isCron = (line: string) => line.startsWith("@") || line.split(/\s+/).length > 4;
  return { crons: lines.filter(isCron), calendars: lines.filter((line) => !isCron(line)) };
}

/** Whether an OnCalendar expression ends with a time zone; weekdays are at its beginning. */
function hasZone(line: string): boolean {
  return /\s[A-Za-z]\S*$/.test(line);
}

/** The examples for a job: cron cannot run it at the times of an OnCalendar expression. */
export function waysOf({ schedule }: Job): Way[] {
  return ways.filter((way) => way !== "cron" || linesOf(schedule).calendars.length === 0);
}

export function exampleOf(way: Way, job: Job): string {
  const { url, ping, schedule, tz } = job;
  const { crons, calendars } = linesOf(schedule);
  const post = job.postOnly ? " -X POST" : "";
  switch (way) {
    case "wakeful run":
      return `wakeful run --url "${ping}" -- your-job`;
    case "systemd": {
      const start = `ExecStart=/usr/bin/wakeful run --url "${ping}" -- /usr/local/bin/your-job`;
      if (crons.length > 0 || calendars.length === 0) return start;
      return ["[Timer]", ...calendars.map((line) => `OnCalendar=${hasZone(line) ? line : `${line} ${tz}`}`), "", "[Service]", start].join(
        "\n",
      );
    }
    case "curl":
      return `curl -fsS -m 10 --retry 3${post} "${ping}"`;
    case "cron":
      return (crons.length > 0 ? crons : [cron(job.interval)])
        .map((line) => `${line} your-job && curl -fsS -m 10 --retry 3 -o /dev/null${post} "${ping}"`)
        .join("\n");
    case "PowerShell":
      return `Invoke-RestMethod -TimeoutSec 10 "${url}?status=up&msg=OK"`;
    case "Python":
      return `import urllib.request; urllib.request.urlopen("${url}?status=up&msg=OK", timeout=10)`;
    case "Alertmanager":
      return `webhook_configs: [{ url: "${url}/alertmanager", send_resolved: true }]`;
  }
}

export function PushLines({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const client = useQueryClient();
  const [way, setWay] = useState<Way>("curl");
  const [isReplacing, setReplacing] = useState(false);
  const job = jobOf(monitor);
  const choices = waysOf(job);
  const shown = choices.includes(way) ? way : "curl";
  return (
    <Panel
      title={t.push.title}
      lead={t.push.lead(interval(monitor.heartbeat_interval))}
      actions={
        <SegmentedControl label={t.push.way} choices={choices.map((choice) => [choice, choice] as const)} chosen={shown} choose={setWay} />
      }
    >
      <div className={styles.push}>
        <CopyLine label={t.push.url} value={job.url} />
        {monitor.ping_url && <CopyLine label={t.push.pingUrl} value={monitor.ping_url} />}
        <CopyLine label={shown} value={exampleOf(shown, job)} wrap />
        {shown === "cron" && job.schedule !== "" && <p className={styles.quiet}>{t.push.zone(job.tz)}</p>}
        <p className={styles.quiet}>{t.push.down}</p>
        <May do="edit">
          <div>
            <Button variant="default" onClick={() => setReplacing(true)}>
              {t.push.rotate}
            </Button>
          </div>
        </May>
      </div>
      {isReplacing && (
        <Confirm
          title={t.push.rotateTitle}
          action={t.push.rotate}
          close={() => setReplacing(false)}
          run={async () => {
            await rotatePushUrl(client, monitor.monitorid);
            showToast(t.push.rotated);
          }}
        >
          {t.push.rotateHelp}
        </Confirm>
      )}
    </Panel>
  );
}
