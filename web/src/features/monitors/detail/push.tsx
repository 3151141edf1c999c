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

/** `ping` is the ping URL, to which runs are reported. */
export function lineOf(way: Way, url: string, seconds: number, ping: string): string {
  switch (way) {
    case "wakeful run":
      return `wakeful run --url "${ping}" -- your-job`;
    case "systemd":
      return `ExecStart=/usr/bin/wakeful run --url "${ping}" -- /usr/local/bin/your-job`;
    case "curl":
      return `curl -fsS -m 10 --retry 3 "${url}?status=up&msg=OK"`;
    case "cron":
      return `${cron(seconds)} your-job && curl -fsS -m 10 --retry 3 -o /dev/null "${url}"`;
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
  const url = monitor.push_url ?? "";
  return (
    <Panel
      title={t.push.title}
      lead={t.push.lead(interval(monitor.heartbeat_interval))}
      actions={
        <SegmentedControl label={t.push.way} choices={ways.map((choice) => [choice, choice] as const)} chosen={way} choose={setWay} />
      }
    >
      <div className={styles.push}>
        <CopyLine label={t.push.url} value={url} />
        {monitor.ping_url && <CopyLine label={t.push.pingUrl} value={monitor.ping_url} />}
        <CopyLine label={way} value={lineOf(way, url, monitor.heartbeat_interval, monitor.ping_url ?? "")} wrap />
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
