/** Edits one routing rule. It is saved with the others. */
import { MultiSelect, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { alertKinds, severities } from "../../../shared/api/alerting-sets";
import { find } from "../../../shared/api/closed-sets";
import { notifierSummariesQuery } from "../../../shared/api/notifiers";
import { policiesQuery } from "../../../shared/api/policies";
import { readerZone } from "../../../shared/lib/zone";
import { useTexts } from "../../../shared/i18n";
import { Dialog } from "../../../shared/ui/dialog";
import { flag, text, useForm } from "../../../shared/ui/form";
import { FieldPair, FormLayout } from "../../../shared/ui/form-layout";
import { HoursField } from "../../../shared/ui/hours-field";
import { SelectorFields } from "../../../shared/ui/selector-fields";
import { Toggles } from "../../../shared/ui/toggles";
import { ZoneField } from "../../../shared/ui/zone-field";
import type { Rule } from "./data";
import { check, initial, ruleOf, valuesOf } from "./values";

interface Props {
  rule: Rule | undefined;
  done: (rule: Rule) => void;
  close: () => void;
}

export function RuleDialog({ rule, done, close }: Props) {
  const t = useTexts();
  const { routing, alerts } = t;
  const [start] = useState(() => (rule ? valuesOf(rule, readerZone()) : initial(readerZone())));
  const form = useForm(
    start,
    (values) => {
      done(ruleOf(values));
      close();
      return Promise.resolve();
    },
    (values) => check(values, t),
  );
  const { data: policies = [] } = useQuery(policiesQuery);
  const { data: notifiers = [] } = useQuery(notifierSummariesQuery);
  const { values, errors } = form;
  return (
    <Dialog title={rule ? t.form.editTitle(rule.name) : routing.newTitle} close={close} size="lg" closeOnClickOutside={false}>
      <FormLayout form={form} action={rule ? routing.apply : routing.add} cancel={close}>
        <TextInput {...text(form, "name")} label={t.form.name} maxLength={255} autoComplete="off" data-autofocus />
        <h3>{routing.which}</h3>
        <SelectorFields form={form} label={routing.which} />
        <FieldPair>
          <Toggles
            name="severities"
            legend={routing.severities}
            choices={severities.map((one) => [one, alerts.severities[one], alerts.severities[one]] as const)}
            chosen={values.severities}
            choose={(chosen) => form.set("severities", chosen)}
            error={errors.severities}
          />
          <Toggles
            name="kinds"
            legend={routing.kindsLabel}
            choices={alertKinds.map((one) => [one, routing.kinds[one], routing.kinds[one]] as const)}
            chosen={values.kinds}
            choose={(chosen) => form.set("kinds", chosen)}
            error={errors.kinds}
          />
        </FieldPair>
        <HoursField
          legend={routing.hours}
          help={routing.hoursHelp}
          name="hours"
          hours={values.hours}
          errors={errors}
          change={(hours) => form.set("hours", hours)}
        />
        {values.hours.length > 0 && <ZoneField form={form} label={t.maintenance.form.zone} help={t.hours.zoneHelp} />}
        <h3>{routing.then}</h3>
        <MultiSelect
          name="notifiers"
          label={routing.notifiers}
          description={routing.notifiersHelp}
          data={notifiers.map(({ notifierid, name }) => ({ value: notifierid, label: name }))}
          searchable
          hidePickedOptions
          value={values.notifiers}
          error={errors.notifiers}
          onChange={(ids) => form.set("notifiers", ids)}
        />
        <FieldPair>
          <Select
            name="policyid"
            label={t.escalation.policy}
            description={routing.policyHelp}
            data={[{ value: "", label: routing.asMonitor }, ...policies.map(({ policyid, name }) => ({ value: policyid, label: name }))]}
            allowDeselect={false}
            value={values.policyid}
            error={errors.policyid}
            onChange={(id) => form.set("policyid", id ?? "")}
          />
          <Select
            name="severity"
            label={alerts.severity}
            description={routing.severityHelp}
            data={[{ value: "", label: routing.asMonitor }, ...severities.map((value) => ({ value, label: alerts.severities[value] }))]}
            allowDeselect={false}
            value={values.severity}
            error={errors.severity}
            onChange={(word) => form.set("severity", find(severities, word) ?? "")}
          />
        </FieldPair>
        <Switch {...flag(form, "stop")} label={routing.stop} description={routing.stopHelp} />
      </FormLayout>
    </Dialog>
  );
}
