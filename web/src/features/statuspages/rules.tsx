/** The rules of a page: which outages become incidents, and who publishes them. They are saved with the page. */
import { Button, MultiSelect, Select, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { find, valuesOfSet, type Impact, type OnRecovery, type RuleMode } from "../../shared/api/closed-sets";
import { incidentTemplatesQuery } from "../../shared/api/incidents";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Dialog } from "../../shared/ui/dialog";
import { DurationInput } from "../../shared/ui/duration-input";
import { EmptyState } from "../../shared/ui/empty-state";
import { FormError } from "../../shared/ui/error-notice";
import { flag, useForm } from "../../shared/ui/form";
import { FieldPair, FormLayout, RequiredField } from "../../shared/ui/form-layout";
import { Plus } from "../../shared/ui/icons";
import { Panel } from "../../shared/ui/page";
import { SortableList } from "../../shared/ui/sortable-list";
import type { PageForm } from "./edit";
import { checkRule, MAX_RULES, newRule, type RuleValues } from "./rule-values";
import styles from "./statuspages.module.css";
import type { Values } from "./values";

const modes = valuesOfSet<RuleMode>({ draft: true, publish: true });
const recoveries = valuesOfSet<OnRecovery>({ monitor: true, resolve: true, leave: true });
export const impacts = valuesOfSet<Impact>({ none: true, minor: true, major: true, critical: true });

export function Rules({ form, edits }: { form: PageForm; edits: boolean }) {
  const t = useTexts();
  const { rules: texts } = t.statuspages;
  const { rules } = form.values;
  const [editing, setEditing] = useState<RuleValues | null>(null);
  const set = (next: RuleValues[]) => form.set("rules", next);
  const apply = (rule: RuleValues) =>
    set(rules.some(({ key }) => key === rule.key) ? rules.map((one) => (one.key === rule.key ? rule : one)) : [...rules, rule]);
  const make = edits && rules.length < MAX_RULES && (
    <Button
      variant={rules.length === 0 ? "filled" : "default"}
      leftSection={<Plus />}
      onClick={() => setEditing(newRule(texts.newName(rules.length + 1)))}
    >
      {texts.new}
    </Button>
  );
  return (
    <Panel title={texts.title} lead={texts.lead} actions={rules.length > 0 && make}>
      {rules.length === 0 ? (
        <EmptyState title={texts.none}>
          <p className={styles.emptyWords}>{texts.noneHelp}</p>
          {make}
        </EmptyState>
      ) : (
        <SortableList label={texts.title} items={rules} keyOf={({ key }) => key} nameOf={({ name }) => name} change={set} enabled={edits}>
          {(rule, place) => (
            <RuleCard
              rule={rule}
              values={form.values}
              error={errorOf(form, place)}
              edit={edits ? () => setEditing(rule) : undefined}
              remove={() => set(rules.filter(({ key }) => key !== rule.key))}
            />
          )}
        </SortableList>
      )}
      <FormError text={form.errors.rules ?? null} />
      {editing && <RuleDialog rule={editing} values={form.values} done={apply} close={() => setEditing(null)} />}
    </Panel>
  );
}

/** What the service says about a rule. */
function errorOf({ errors }: PageForm, place: number): string | null {
  const field = Object.keys(errors).find((name) => name.startsWith(`rules.${place}.`) && errors[name] !== undefined);
  return (field && errors[field]) ?? null;
}

interface CardProps {
  rule: RuleValues;
  values: Values;
  error: string | null;
  edit: (() => void) | undefined;
  remove: () => void;
}

function RuleCard({ rule, values, error, edit, remove }: CardProps) {
  const t = useTexts();
  const { rules: texts } = t.statuspages;
  const { name, isactive, mode, after, components } = rule;
  const named = optionsOf(values)
    .filter(({ value }) => components.includes(value))
    .map(({ label }) => label);
  return (
    <div className={styles.rule}>
      <div className={styles.names}>
        <span className={styles.title}>
          <b>{name}</b>
          {!isactive && <Badge tone="rest">{texts.off}</Badge>}
          <Badge tone={mode === "publish" ? "accent" : "wait"}>{texts.modes[mode]}</Badge>
        </span>
        <span className={styles.quiet}>{texts.summary(after, components.length === 0 ? texts.allComponents : named.join(", "))}</span>
      </div>
      <FormError text={error} />
      {edit && (
        <div className={styles.line}>
          <Button variant="default" size="xs" aria-label={t.form.editTitle(name)} onClick={edit}>
            {t.statuspages.edit}
          </Button>
          <Button variant="subtle" color="red" size="xs" aria-label={t.statuspages.removeComponent(name)} onClick={remove}>
            {t.common.remove}
          </Button>
        </div>
      )}
    </div>
  );
}

/** The components that rules can name: those that are stored. */
function optionsOf({ sections }: Values): { value: string; label: string }[] {
  return sections.flatMap(({ components }) =>
    components.flatMap(({ componentid, name }) => (componentid === undefined ? [] : [{ value: componentid, label: name || componentid }])),
  );
}

interface DialogProps {
  rule: RuleValues;
  values: Values;
  done: (rule: RuleValues) => void;
  close: () => void;
}

function RuleDialog({ rule, values: page, done, close }: DialogProps) {
  const t = useTexts();
  const { rules: texts } = t.statuspages;
  const isNew = !page.rules.some(({ key }) => key === rule.key);
  const { data: templates = [] } = useQuery(incidentTemplatesQuery);
  const form = useForm(
    rule,
    (values) => {
      done(values);
      close();
      return Promise.resolve();
    },
    (values) => checkRule(values, t),
  );
  const { values, errors } = form;
  const known = templates.filter(({ kind }) => kind === "incident").map(({ templateid, name }) => ({ value: templateid, label: name }));
  const duration = (field: "after" | "group" | "resolve_after") => ({
    name: field,
    value: values[field],
    error: errors[field],
    placeholder: "2m",
    change: (value: string) => form.set(field, value),
  });
  return (
    <Dialog title={isNew ? texts.new : t.form.editTitle(rule.name)} close={close} size="lg" closeOnClickOutside={false}>
      <FormLayout form={form} action={texts.apply} cancel={close}>
        <RequiredField form={form} field="name" label={t.form.name} maxLength={255} autoComplete="off" data-autofocus />
        <Switch {...flag(form, "isactive")} label={texts.active} />
        <MultiSelect
          name="components"
          label={t.incidents.components}
          description={texts.componentsHelp}
          placeholder={values.components.length === 0 ? texts.allComponents : undefined}
          data={optionsOf(page)}
          searchable
          hidePickedOptions
          value={values.components}
          error={errors.components}
          onChange={(ids) => form.set("components", ids)}
        />
        <FieldPair>
          <DurationInput {...duration("after")} label={texts.after} description={texts.afterHelp} />
          <DurationInput {...duration("group")} label={texts.group} description={texts.groupHelp} />
        </FieldPair>
        <Select
          name="mode"
          label={texts.mode}
          description={texts.modeHelp[values.mode]}
          data={modes.map((value) => ({ value, label: texts.modes[value] }))}
          allowDeselect={false}
          value={values.mode}
          error={errors.mode}
          onChange={(value) => form.set("mode", find(modes, value) ?? values.mode)}
        />
        <FieldPair>
          <Select
            name="templateid"
            label={t.incidents.template}
            description={texts.templateHelp}
            data={[{ value: "", label: texts.builtIn }, ...known]}
            allowDeselect={false}
            value={values.templateid}
            error={errors.templateid}
            onChange={(value) => form.set("templateid", value ?? "")}
          />
          <Select
            name="impact"
            label={t.incidents.impact}
            description={t.incidents.impactHelp}
            data={[{ value: "", label: t.form.auto }, ...impacts.map((value) => ({ value, label: t.incidents.impacts[value] }))]}
            allowDeselect={false}
            value={values.impact}
            error={errors.impact}
            onChange={(value) => form.set("impact", find(impacts, value) ?? "")}
          />
        </FieldPair>
        <FieldPair>
          <Select
            name="on_recovery"
            label={texts.recovery}
            data={recoveries.map((value) => ({ value, label: texts.recoveries[value] }))}
            allowDeselect={false}
            value={values.on_recovery}
            error={errors.on_recovery}
            onChange={(value) => form.set("on_recovery", find(recoveries, value) ?? values.on_recovery)}
          />
          {values.on_recovery === "monitor" && (
            <DurationInput {...duration("resolve_after")} label={texts.resolveAfter} description={texts.resolveAfterHelp} />
          )}
        </FieldPair>
        <Switch {...flag(form, "notify")} label={t.incidents.notify} />
        <Switch {...flag(form, "show_cause")} label={texts.showCause} description={texts.showCauseHelp} />
      </FormLayout>
    </Dialog>
  );
}
