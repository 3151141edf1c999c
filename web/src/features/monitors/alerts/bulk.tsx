/** Responding to several alerts at once. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../../shared/i18n";
import { Chevron, Cross } from "../../../shared/ui/icons";
import { showToast } from "../../../shared/ui/toast";
import { useRun } from "../../../shared/ui/use-run";
import type { Alert } from "../data";
import bulk from "../list/bulk.module.css";
import { changeAlerts, type Action, type Outcome } from "./data";
import { ResolveDialog, SnoozeMenu } from "./respond";

interface Props {
  list: Alert[];
  total: number;
  all: () => void;
  clear: () => void;
  /** Called with what became of the alerts. */
  finish: (outcome: Outcome) => void;
}

export function Bulk({ list, total, all, clear, finish }: Props) {
  const { alerts } = useTexts();
  const client = useQueryClient();
  const [busy, run] = useRun();
  const [resolving, setResolving] = useState(false);
  const change = async (action: Action) => {
    const ids = list.map(({ alertid }) => alertid);
    const outcome = await changeAlerts(client, ids, action);
    if (outcome.done > 0) showToast(alerts.done[action.do](outcome.done));
    finish(outcome);
  };
  return (
    <div className={bulk.bulk} role="toolbar" aria-label={alerts.bulk}>
      <span className="num" role="status">
        {alerts.selected(list.length)}
      </span>
      {list.length < total && (
        <button type="button" className={bulk.plain} onClick={all}>
          {alerts.selectAll}
        </button>
      )}
      <div className={bulk.grow} />
      <Button {...button} loading={busy} onClick={() => run(() => change({ do: "acknowledge" }))}>
        {alerts.acknowledge}
      </Button>
      <SnoozeMenu
        run={run}
        snooze={(span) => change({ do: "snooze", span })}
        button={
          <Button {...button} rightSection={<Chevron />}>
            {alerts.snooze}
          </Button>
        }
      />
      <Button {...button} onClick={() => setResolving(true)}>
        {alerts.resolve}
      </Button>
      <button type="button" className={bulk.clear} onClick={clear} aria-label={alerts.clear}>
        <Cross />
      </button>
      {resolving && (
        <ResolveDialog count={list.length} resolve={(comment) => change({ do: "resolve", comment })} close={() => setResolving(false)} />
      )}
    </div>
  );
}

const button = { variant: "default", size: "xs" } as const;
