/** What can be done with a window: end, extend, turn off, delete. */
import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactElement } from "react";
import { deleteMaintenance, endMaintenance, extendMaintenance, saveMaintenance, type Maintenance } from "../../shared/api/maintenances";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Confirm } from "../../shared/ui/confirm";
import { Check, Pause, Pencil, Play, Plus, Trash } from "../../shared/ui/icons";
import { showToast } from "../../shared/ui/toast";
import { UntilDialog } from "../../shared/ui/until-dialog";
import { useRun } from "../../shared/ui/use-run";

const HOUR = 3_600_000;
export const EXTENSIONS = [1, 4];
const MAX_DAYS = 366;

type Asking = "end" | "until" | "delete";

/** The calls, and the dialogs that they need. */
export function useWindowActions(window: Maintenance, deleted: () => void = () => undefined) {
  const t = useTexts();
  const { maintenance } = t;
  const client = useQueryClient();
  const [busy, run] = useRun();
  const [asking, ask] = useState<Asking | null>(null);
  const close = () => ask(null);
  const { maintenanceid, name, isactive, current, monitors_covered } = window;
  const extend = async (until: string) => {
    await extendMaintenance(client, maintenanceid, until);
    showToast(maintenance.extended(name));
  };
  const end = Date.parse(current?.to ?? "");
  const dialogs = (
    <>
      {asking === "end" && (
        <Confirm
          title={maintenance.endTitle(name)}
          action={maintenance.end}
          color="blue"
          close={close}
          run={async () => {
            await endMaintenance(client, maintenanceid);
            showToast(maintenance.ended(name));
          }}
        >
          {maintenance.endHelp(monitors_covered)}
        </Confirm>
      )}
      {asking === "until" && (
        <UntilDialog
          title={maintenance.extendTitle}
          action={maintenance.extend}
          help={maintenance.extendHelp}
          invalid={maintenance.extendInvalid}
          days={MAX_DAYS}
          after={end}
          run={extend}
          close={close}
        />
      )}
      {asking === "delete" && (
        <Confirm
          title={t.detail.deleteTitle(name)}
          action={maintenance.delete}
          close={close}
          run={async () => {
            await deleteMaintenance(client, maintenanceid);
            showToast(t.detail.deleted(name));
            deleted();
          }}
        >
          {maintenance.deleteHelp}
        </Confirm>
      )}
    </>
  );
  return {
    busy,
    ask,
    dialogs,
    /** Only what has an end can be extended. */
    isExtendable: !!current?.to,
    extendBy: (hours: number) => run(() => extend(new Date(end + hours * HOUR).toISOString())),
    turn: () =>
      run(async () => {
        await saveMaintenance(client, { maintenanceid, isactive: !isactive });
      }),
  };
}

type Actions = ReturnType<typeof useWindowActions>;

export function ExtendItems({ actions }: { actions: Actions }) {
  const { maintenance } = useTexts();
  return (
    <>
      {EXTENSIONS.map((hours) => (
        <Menu.Item key={hours} onClick={() => actions.extendBy(hours)}>
          {maintenance.extendBy(hours)}
        </Menu.Item>
      ))}
      <Menu.Item onClick={() => actions.ask("until")}>{maintenance.extendUntil}</Menu.Item>
    </>
  );
}

/** Turning it off and on, and deleting it. */
export function RareItems({ window, actions }: { window: Maintenance; actions: Actions }) {
  const { maintenance } = useTexts();
  const { isactive, status } = window;
  return (
    <>
      {status !== "ended" && (
        <Menu.Item leftSection={isactive ? <Pause /> : <Play />} onClick={actions.turn}>
          {isactive ? maintenance.turnOff : maintenance.turnOn}
        </Menu.Item>
      )}
      <Menu.Item leftSection={<Trash />} color="red" onClick={() => actions.ask("delete")}>
        {maintenance.delete}
      </Menu.Item>
    </>
  );
}

/** The menu of a row. */
export function WindowMenu({ window, button }: { window: Maintenance; button: ReactElement }) {
  const { maintenance } = useTexts();
  const actions = useWindowActions(window);
  return (
    <>
      <ActionMenu width={200} button={button}>
        {window.status === "running" && (
          <Menu.Item leftSection={<Check />} onClick={() => actions.ask("end")}>
            {maintenance.end}
          </Menu.Item>
        )}
        {actions.isExtendable && (
          <Menu.Item leftSection={<Plus />} onClick={() => actions.ask("until")}>
            {maintenance.extend}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Pencil />} component={Link} to={`/maintenance/${window.maintenanceid}/edit`}>
          {maintenance.edit}
        </Menu.Item>
        <RareItems window={window} actions={actions} />
      </ActionMenu>
      {actions.dialogs}
    </>
  );
}
