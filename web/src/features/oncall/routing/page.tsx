/** The routing rules in their order, and who would be notified. Changes are saved together. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../../shared/api/error";
import { useMay } from "../../../shared/api/session";
import { useTexts } from "../../../shared/i18n";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { EmptyState } from "../../../shared/ui/empty-state";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { ErrorNotice, FormError } from "../../../shared/ui/error-notice";
import { More, Pencil, Plus, Trash } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { SortableList } from "../../../shared/ui/sortable-list";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { translate } from "../../../shared/i18n/service";
import styles from "../oncall.module.css";
import { OnCallTabs } from "../tabs";
import { routingQuery, saveRouting, type Routing, type Rule } from "./data";
import { RuleDialog } from "./rule-dialog";
import { useSummary } from "./summary";
import { TrialPanel } from "./trial";
import { isChanged, listed, placeOfError, type Listed } from "./values";

const MAX_RULES = 200;

export function RoutingPage() {
  const { routing } = useTexts();
  const { data, error, isPending, refetch } = useQuery(routingQuery);
  return (
    <Page title={routing.title} lead={routing.lead}>
      <OnCallTabs current="/oncall/routing" />
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && <Rules stored={data} />}
    </Page>
  );
}

/** What is being edited: the rules, and the ones that they are based on. */
interface Draft {
  base: Routing;
  list: Listed[];
}

const draftOf = (base: Routing): Draft => ({ base, list: base.rules.map(listed) });

function Rules({ stored }: { stored: Routing }) {
  const t = useTexts();
  const { routing } = t;
  const edits = useMay("edit");
  const [draft, setDraft] = useState(() => draftOf(stored));
  const [editing, setEditing] = useState<Listed | "new" | null>(null);
  const { base, list } = draft;
  const dirty = isChanged(base.rules, list);
  const saving = useSaving(draft, setDraft);
  // What somebody else has saved replaces what is shown, unless it is being edited.
  if (!dirty && base.revision !== stored.revision) setDraft(draftOf(stored));
  const set = (rules: Listed[]) => {
    saving.clear();
    setDraft({ base, list: rules });
  };
  const apply = (rule: Rule) => {
    if (editing === "new" || editing === null) set([...list, listed(rule)]);
    else set(list.map((one) => (one.key === editing.key ? { ...one, rule } : one)));
  };
  const make = edits && list.length < MAX_RULES && (
    <Button variant={list.length === 0 ? "filled" : "default"} leftSection={<Plus />} onClick={() => setEditing("new")}>
      {routing.new}
    </Button>
  );
  return (
    <>
      <Panel title={routing.rules} lead={routing.rulesLead} actions={list.length > 0 && make}>
        {list.length === 0 ? (
          <EmptyState title={routing.none}>
            <p className={styles.emptyWords}>{routing.noneHelp}</p>
            {make}
          </EmptyState>
        ) : (
          <SortableList
            label={routing.rules}
            items={list}
            keyOf={({ key }) => key}
            nameOf={({ rule }) => rule.name}
            change={set}
            enabled={edits}
          >
            {(one, place) => (
              <RuleCard
                rule={one.rule}
                error={saving.errors[place]}
                edit={edits ? () => setEditing(one) : undefined}
                remove={() => set(list.filter(({ key }) => key !== one.key))}
              />
            )}
          </SortableList>
        )}
      </Panel>
      {saving.conflict && (
        <div className={styles.notice} role="alert">
          <b>{routing.conflict}</b>
          <p>{routing.conflictHelp}</p>
          <div>
            <Button variant="default" onClick={() => void saving.takeTheirs()}>
              {routing.takeTheirs}
            </Button>
            <Button color="red" loading={saving.busy} onClick={() => void saving.replaceTheirs()}>
              {routing.replaceTheirs}
            </Button>
          </div>
        </div>
      )}
      {dirty && !saving.conflict && (
        <div className={styles.saveBar}>
          <p>{routing.unsaved}</p>
          <FormError text={saving.fault} />
          <Button
            variant="default"
            onClick={() => {
              saving.clear();
              setDraft(draftOf(stored));
            }}
          >
            {t.form.leave}
          </Button>
          <Button loading={saving.busy} onClick={() => void saving.save()}>
            {routing.save}
          </Button>
        </div>
      )}
      <TrialPanel revision={stored.revision} dirty={dirty} />
      {editing !== null && <RuleDialog rule={editing === "new" ? undefined : editing.rule} done={apply} close={() => setEditing(null)} />}
      <UnsavedChangesGuard when={() => dirty} />
    </>
  );
}

/** Saves the draft. If somebody else has saved other rules meanwhile, the user decides which ones count. */
function useSaving(draft: Draft, setDraft: (draft: Draft) => void) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [errors, setErrors] = useState<Partial<Record<number, string>>>({});
  const [conflict, setConflict] = useState(false);
  const clear = () => {
    setFault(null);
    setErrors({});
  };
  const send = async (revision: number) => {
    setBusy(true);
    clear();
    try {
      const saved = await saveRouting(
        client,
        draft.list.map(({ rule }) => rule),
        revision,
      );
      setConflict(false);
      setDraft(draftOf(saved));
      showToast(t.routing.saved);
    } catch (error) {
      if (error instanceof ApiError && error.has("changed_meanwhile")) setConflict(true);
      else refuse(error);
    } finally {
      setBusy(false);
    }
  };
  const refuse = (error: unknown) => {
    const fields = error instanceof ApiError ? Object.entries(error.fields) : [];
    const found: Partial<Record<number, string>> = {};
    for (const [field, message] of fields) {
      const place = placeOfError(field);
      if (place !== null) found[place] ??= translate(message, t.service);
    }
    setErrors(found);
    setFault(Object.keys(found).length > 0 ? t.routing.invalid : errorMessage(error));
  };
  const fetchTheirs = () => client.query({ ...routingQuery, staleTime: 0 });
  const guarded = async (act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      showToast(errorMessage(error), true);
    }
  };
  return {
    busy,
    fault,
    errors,
    conflict,
    clear,
    save: () => send(draft.base.revision),
    takeTheirs: () =>
      guarded(async () => {
        setDraft(draftOf(await fetchTheirs()));
        setConflict(false);
      }),
    replaceTheirs: () => guarded(async () => send((await fetchTheirs()).revision)),
  };
}

interface CardProps {
  rule: Rule;
  error: string | undefined;
  /** Undefined if the user may not. */
  edit: (() => void) | undefined;
  remove: () => void;
}

function RuleCard({ rule, error, edit, remove }: CardProps) {
  const t = useTexts();
  const { when, then } = useSummary()(rule);
  return (
    <div className={styles.rule}>
      <div className={styles.ruleHead}>
        <div>
          <h3>{rule.name}</h3>
          <p className={styles.quiet}>{when}</p>
          <p>{then}</p>
        </div>
        {edit && (
          <ActionMenu
            width={170}
            button={
              <Button variant="default" px={10} aria-label={t.maintenance.actions(rule.name)}>
                <More />
              </Button>
            }
          >
            <Menu.Item leftSection={<Pencil />} onClick={edit}>
              {t.detail.edit}
            </Menu.Item>
            <Menu.Item leftSection={<Trash />} color="red" onClick={remove}>
              {t.common.remove}
            </Menu.Item>
          </ActionMenu>
        )}
      </div>
      {error !== undefined && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
