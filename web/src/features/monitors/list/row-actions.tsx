/** The menu of a row: what the monitor's own page offers, without opening it. */
import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactElement } from "react";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { Confirm } from "../../../shared/ui/confirm";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { Pause, Pencil, Play, Refresh, Trash, Duplicate } from "../../../shared/ui/icons";
import { May } from "../../../shared/ui/may";
import { showToast } from "../../../shared/ui/toast";
import { checkNow, isCheckable, remove, save, type MonitorRow } from "../data";
import { MuteItems, useMute } from "../mute";

export default function RowActions({ monitor, button }: { monitor: MonitorRow; button: ReactElement }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [confirming, setConfirming] = useState(false);
  const { monitorid, name, isactive } = monitor;
  const mute = useMute(monitor);
  const run = (act: () => Promise<unknown>) => {
    act().catch((error: unknown) => showToast(errorMessage(error), true));
  };
  const check = async () => {
    const beat = await checkNow(monitorid);
    showToast(t.detail.checked(beat.message), beat.status === "down");
  };
  return (
    <>
      <ActionMenu defaultOpened width={230} button={button}>
        {isCheckable(monitor) && (
          <May do="respond">
            <Menu.Item leftSection={<Refresh />} onClick={() => run(check)}>
              {t.detail.check}
            </Menu.Item>
          </May>
        )}
        <May do="edit">
          <Menu.Item
            leftSection={isactive ? <Pause /> : <Play />}
            onClick={() => run(() => save(client, { monitorid, isactive: !isactive }))}
          >
            {isactive ? t.monitors.pause : t.monitors.resume}
          </Menu.Item>
          <Menu.Item leftSection={<Pencil />} component={Link} to={`/monitor/${monitorid}/edit`}>
            {t.detail.edit}
          </Menu.Item>
          <Menu.Item leftSection={<Duplicate />} component={Link} to={`/monitor/new?from=${monitorid}`}>
            {t.detail.duplicate}
          </Menu.Item>
        </May>
        <May do="respond">
          <MuteItems mute={mute} />
        </May>
        <May do="edit">
          <Menu.Item leftSection={<Trash />} color="red" onClick={() => setConfirming(true)}>
            {t.monitors.delete}
          </Menu.Item>
        </May>
      </ActionMenu>
      {mute.dialogs}
      {confirming && (
        <Confirm
          title={t.detail.deleteTitle(name)}
          action={t.monitors.delete}
          typed={name}
          close={() => setConfirming(false)}
          run={async () => {
            await remove(client, monitorid);
            showToast(t.detail.deleted(name));
          }}
        >
          {t.detail.deleteHelp}
        </Confirm>
      )}
    </>
  );
}
