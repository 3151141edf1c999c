/** Muting a monitor, and ending the maintenance that covers it. */
import { Menu, Switch } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useMayChange } from "../../shared/api/limited";
import { endMaintenance, maintenanceQuery, saveMaintenance, type Maintenance, type SaveMaintenance } from "../../shared/api/maintenances";
import { readerZone } from "../../shared/lib/zone";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { BellOff, Check } from "../../shared/ui/icons";
import { showToast } from "../../shared/ui/toast";
import { UntilDialog } from "../../shared/ui/until-dialog";
import { useRun } from "../../shared/ui/use-run";
import type { Monitor, MonitorRow } from "./data";

const HOUR = 3_600_000;
const HOURS = [1, 4];
const MAX_DAYS = 366;
const MAX_NAME = 255;

type Mutable = Pick<MonitorRow, "monitorid" | "name"> &
  // Rows do not say how many monitors depend on it.
  Partial<Pick<Monitor, "dependents">> & { maintenance?: MonitorRow["maintenance"] | null };

/** A window from now on, for one monitor: nobody is notified, but checks continue and count. The service stores its length in seconds. */
export function muteOf(monitorid: string, name: string, now: number, until: string, dependents: boolean): SaveMaintenance {
  const starts = new Date(Math.floor(now / 1000) * 1000).toISOString();
  return {
    name: Array.from(name).slice(0, MAX_NAME).join(""),
    monitors: [monitorid],
    starts,
    ends: until,
    time_zone: readerZone(),
    checks: "run",
    counts: "counted",
    alerts: "suppress",
    dependents,
  };
}

/** The calls, and the dialogs that they need. */
export function useMute({ monitorid, name, dependents, maintenance: cover }: Mutable) {
  const { maintenance } = useTexts();
  const client = useQueryClient();
  const [busy, run] = useRun();
  const [asking, ask] = useState<"until" | Maintenance | null>(null);
  const [withDependents, setWithDependents] = useState(true);
  const { data } = useQuery({ ...maintenanceQuery(cover?.maintenanceid ?? ""), enabled: !!cover });
  const window = cover ? data?.maintenance : undefined;
  const mayChange = useMayChange();
  const mute = async (until: string, dependents = true) => {
    await saveMaintenance(client, muteOf(monitorid, maintenance.muteName(name), Date.now(), until, dependents));
    showToast(maintenance.muted(name));
  };
  const finish = async (window: Pick<Maintenance, "maintenanceid" | "name">) => {
    await endMaintenance(client, window.maintenanceid);
    showToast(maintenance.ended(window.name));
  };
  const dialogs = (
    <>
      {asking === "until" && (
        <UntilDialog
          title={maintenance.muteTitle(name)}
          action={maintenance.mute}
          help={maintenance.muteHelp}
          invalid={maintenance.muteInvalid}
          days={MAX_DAYS}
          run={(until) => mute(until, withDependents)}
          close={() => ask(null)}
        >
          {dependents !== 0 && (
            <Switch
              name="dependents"
              label={maintenance.muteDependents}
              checked={withDependents}
              onChange={({ currentTarget }) => setWithDependents(currentTarget.checked)}
            />
          )}
        </UntilDialog>
      )}
      {asking !== null && asking !== "until" && (
        <Confirm
          title={maintenance.endTitle(asking.name)}
          action={maintenance.end}
          color="blue"
          close={() => ask(null)}
          run={() => finish(asking)}
        >
          {maintenance.endHelp(asking.monitors_covered)}
        </Confirm>
      )}
    </>
  );
  return {
    busy,
    dialogs,
    muteFor: (hours: number) => run(() => mute(new Date(Date.now() + hours * HOUR).toISOString())),
    askUntil: () => {
      setWithDependents(true);
      ask("until");
    },
    /** Ends the maintenance that covers it; if others are covered too, it asks first. Null if the user may not. */
    end: window && mayChange(window) ? () => (window.monitors_covered > 1 ? ask(window) : run(() => finish(window))) : null,
  };
}

export type Mute = ReturnType<typeof useMute>;

export function MuteItems({ mute }: { mute: Mute }) {
  const { maintenance } = useTexts();
  return (
    <>
      {mute.end && (
        <Menu.Item leftSection={<Check />} onClick={mute.end}>
          {maintenance.endCover}
        </Menu.Item>
      )}
      {HOURS.map((hours) => (
        <Menu.Item key={hours} leftSection={<BellOff />} onClick={() => mute.muteFor(hours)}>
          {maintenance.muteFor(hours)}
        </Menu.Item>
      ))}
      <Menu.Item leftSection={<BellOff />} onClick={mute.askUntil}>
        {maintenance.muteUntil}
      </Menu.Item>
    </>
  );
}
