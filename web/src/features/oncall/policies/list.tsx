/** The escalation policies of the team. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deletePolicy, policiesQuery, type Policy } from "../../../shared/api/policies";
import { useMay } from "../../../shared/api/session";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { Confirm } from "../../../shared/ui/confirm";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { More, Pencil, Plus, Trash } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { showToast } from "../../../shared/ui/toast";
import styles from "../oncall.module.css";
import { OnCallTabs } from "../tabs";
import { aftermath, StepTimeline } from "./timeline";
import { keyOfTarget } from "./values";

export function PolicyList() {
  const t = useTexts();
  const { escalation } = t;
  const edits = useMay("edit");
  const { data, error, isPending, refetch } = useQuery(policiesQuery);
  const make = edits && (
    <Button component={Link} to="/oncall/policy/new" leftSection={<Plus />}>
      {escalation.new}
    </Button>
  );
  const isEmpty = data?.length === 0;
  return (
    <Page title={escalation.title} lead={escalation.lead} actions={data && !isEmpty ? make : undefined}>
      <OnCallTabs current="/oncall/policies" />
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {isEmpty && (
        <Panel>
          <EmptyState title={escalation.none}>
            <p className={styles.emptyWords}>{escalation.noneHelp}</p>
            {make}
          </EmptyState>
        </Panel>
      )}
      {data?.map((policy) => (
        <Panel key={policy.policyid} title={policy.name} actions={edits && <Actions policy={policy} />}>
          <StepTimeline
            label={escalation.stepsOf(policy.name)}
            steps={policy.steps.map(({ after, notify }) => ({ after, notify: notify.map(keyOfTarget) }))}
          />
          <p className={styles.note}>{aftermath(policy, t)}</p>
        </Panel>
      ))}
    </Page>
  );
}

function Actions({ policy: { policyid, name } }: { policy: Policy }) {
  const t = useTexts();
  const client = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <ActionMenu
        width={180}
        button={
          <Button variant="default" px={10} aria-label={t.maintenance.actions(name)}>
            <More />
          </Button>
        }
      >
        <Menu.Item leftSection={<Pencil />} component={Link} to={`/oncall/policy/${policyid}/edit`}>
          {t.detail.edit}
        </Menu.Item>
        <Menu.Item leftSection={<Trash />} color="red" onClick={() => setDeleting(true)}>
          {t.monitors.delete}
        </Menu.Item>
      </ActionMenu>
      {deleting && (
        <Confirm
          title={t.detail.deleteTitle(name)}
          action={t.monitors.delete}
          close={() => setDeleting(false)}
          run={async () => {
            await deletePolicy(client, policyid);
            showToast(t.detail.deleted(name));
          }}
        >
          {t.escalation.deleteHelp}
        </Confirm>
      )}
    </>
  );
}
