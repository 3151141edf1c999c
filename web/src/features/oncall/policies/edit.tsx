/** Creates or edits an escalation policy. */
import { Button, MultiSelect, NumberInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { policiesQuery, savePolicy, type Policy } from "../../../shared/api/policies";
import { useTexts } from "../../../shared/i18n";
import { useNavigate } from "../../../shared/router";
import { DurationInput, durationOf } from "../../../shared/ui/duration-input";
import { ErrorNotice, FormError } from "../../../shared/ui/error-notice";
import { useForm, type Form } from "../../../shared/ui/form";
import { FieldPair, RequiredField } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { Plus } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { NotFound } from "../../../shared/ui/not-found";
import { Page, Panel } from "../../../shared/ui/page";
import { SortableList } from "../../../shared/ui/sortable-list";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import styles from "../oncall.module.css";
import { useTargetChoices, useTargetName } from "./targets";
import { aftermath, StepTimeline } from "./timeline";
import { bodyOf, check, initial, newStep, valuesOf, type StepValues, type Values } from "./values";

const MAX_STEPS = 10;
const MAX_TARGETS = 20;
const MAX_REPEAT = 9;

export function PolicyEditor({ id }: { id: string | undefined }) {
  const { escalation } = useTexts();
  const { data, error, refetch } = useQuery({ ...policiesQuery, enabled: id !== undefined });
  if (id === undefined) return <Editor key="new" />;
  if (!data)
    return <Page title={escalation.title}>{error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</Page>;
  const stored = data.find(({ policyid }) => policyid === id);
  return stored ? <Editor key={id} stored={stored} /> : <NotFound instead={["/oncall/policies", escalation.title]} />;
}

function Editor({ stored }: { stored?: Policy }) {
  const t = useTexts();
  const { escalation } = t;
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  // A change by someone else does not replace what is being edited.
  const [start] = useState(() => (stored ? valuesOf(stored) : initial()));
  const form = useForm(
    start,
    async (values) => {
      const saved = await savePolicy(client, bodyOf(values, stored?.policyid));
      leaving.current = true;
      showToast(stored ? t.form.saved(saved.name) : t.maintenance.created(saved.name));
      await navigate("/oncall/policies", { replace: true });
    },
    (values) => check(values, t),
  );
  const { repeat, every, ack_timeout } = form.values;
  return (
    <Page title={stored ? t.form.editTitle(stored.name) : escalation.newTitle}>
      <form className={page.form} onSubmit={form.submit} noValidate>
        <div className={page.sections}>
          <Panel>
            <RequiredField form={form} field="name" label={t.form.name} maxLength={255} autoComplete="off" />
          </Panel>
          <Steps form={form} />
          <Panel title={escalation.afterwards}>
            <div className={page.fields}>
              <FieldPair>
                <NumberInput
                  name="repeat"
                  label={escalation.repeat}
                  description={escalation.repeatHelp}
                  value={repeat}
                  error={form.errors.repeat}
                  min={0}
                  max={MAX_REPEAT}
                  allowDecimal={false}
                  allowNegative={false}
                  onChange={(value) => form.set("repeat", typeof value === "number" ? value : "")}
                />
                <DurationInput
                  name="every"
                  label={escalation.every}
                  description={escalation.everyHelp}
                  placeholder="30 min"
                  value={every}
                  error={form.errors.every}
                  disabled={!repeat}
                  change={(value) => form.set("every", value)}
                />
              </FieldPair>
              <DurationInput
                name="ack_timeout"
                label={escalation.ackTimeout}
                description={escalation.ackTimeoutHelp}
                placeholder={t.form.never}
                value={ack_timeout}
                error={form.errors.ack_timeout}
                change={(value) => form.set("ack_timeout", value)}
              />
            </div>
          </Panel>
        </div>
        <aside className={page.beside}>
          <Preview values={form.values} />
        </aside>
        <div className={page.foot}>
          <FormError text={form.fault} />
          <div className={page.buttons}>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={form.busy}>
              {stored ? t.common.save : escalation.create}
            </Button>
          </div>
        </div>
      </form>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}

/** The policy as the form has it, in words. */
function Preview({ values: { steps, repeat, every, ack_timeout } }: { values: Values }) {
  const t = useTexts();
  const { escalation } = t;
  return (
    <Panel title={escalation.preview} lead={escalation.previewLead}>
      <StepTimeline label={escalation.preview} steps={steps.map(({ after, notify }) => ({ after: durationOf(after) ?? 0, notify }))} />
      <p className={styles.note}>
        {aftermath({ repeat: repeat || 0, every: durationOf(every) ?? 0, ack_timeout: durationOf(ack_timeout) ?? 0 }, t)}
      </p>
    </Panel>
  );
}

function Steps({ form }: { form: Form<Values> }) {
  const t = useTexts();
  const { escalation } = t;
  const { steps } = form.values;
  const choices = useTargetChoices();
  const nameOf = useTargetName();
  const known = new Set(choices.flatMap(({ items }) => items.map(({ value }) => value)));
  const set = (step: StepValues, part: Partial<StepValues>) =>
    form.set(
      "steps",
      steps.map((one) => (one.key === step.key ? { ...one, ...part } : one)),
    );
  // What was deleted since it was chosen stays until it is removed.
  const withDeleted = ({ notify }: StepValues) => {
    const deleted = notify.filter((key) => !known.has(key));
    return deleted.length === 0
      ? choices
      : [...choices, { group: escalation.unknown, items: deleted.map((value) => ({ value, label: nameOf(value) })) }];
  };
  return (
    <Panel title={escalation.steps} lead={escalation.stepsLead}>
      <div className={page.fields}>
        <SortableList
          label={escalation.steps}
          items={steps}
          keyOf={({ key }) => key}
          nameOf={(_, place) => escalation.step(place + 1)}
          change={(items) => form.set("steps", items)}
        >
          {(step, place) => (
            <fieldset className={styles.block}>
              <legend>{escalation.step(place + 1)}</legend>
              <DurationInput
                className={styles.short}
                name={`steps.${place}.after`}
                label={place === 0 ? escalation.wait : escalation.waitMore}
                placeholder={escalation.atOnce}
                value={step.after}
                error={form.errors[`steps.${place}.after`]}
                change={(after) => set(step, { after })}
              />
              <MultiSelect
                name={`steps.${place}.notify`}
                label={escalation.notify}
                placeholder={step.notify.length === 0 ? escalation.notifyPlaceholder : undefined}
                data={withDeleted(step)}
                searchable
                hidePickedOptions
                maxValues={MAX_TARGETS}
                value={step.notify}
                error={form.errors[`steps.${place}.notify`]}
                onChange={(notify) => set(step, { notify })}
              />
              {steps.length > 1 && (
                <div className={styles.removeLine}>
                  <Button
                    variant="subtle"
                    color="red"
                    size="xs"
                    aria-label={escalation.removeStep(place + 1)}
                    onClick={() =>
                      form.set(
                        "steps",
                        steps.filter(({ key }) => key !== step.key),
                      )
                    }
                  >
                    {t.common.remove}
                  </Button>
                </div>
              )}
            </fieldset>
          )}
        </SortableList>
        <FormError text={form.errors.steps ?? null} />
        {steps.length < MAX_STEPS && (
          <div>
            <Button variant="default" leftSection={<Plus />} onClick={() => form.set("steps", [...steps, newStep("10 min")])}>
              {escalation.addStep}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}
