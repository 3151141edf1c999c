/** Group: up or down by a rule on the status of other monitors. */
import { MultiSelect, NumberInput, Select, Switch, TagsInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { find } from "../../../shared/api/closed-sets";
import { covers } from "../../../shared/lib/selector";
import { useTexts } from "../../../shared/i18n";
import { flag, type Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import { monitorsQuery, type MonitorRow } from "../data";
import { isCounted, parseRule, ruleKinds, ruleText, usedWeights, type RuleKind, type Weights } from "./group-rule";
import styles from "./group.module.css";
import type { TypeForm } from "./type-form";

interface GroupValues {
  /** IDs. */
  "group.monitors": string[];
  "group.tags": string[];
  "group.rule": string;
  "group.weights": Weights;
  "group.members_quiet": boolean;
}

export const group: TypeForm<GroupValues> = {
  defaults: { "group.monitors": [], "group.tags": [], "group.rule": "any", "group.weights": {}, "group.members_quiet": false },
  valuesOf: ({ group }) => ({
    ...(group && {
      "group.monitors": group.monitors,
      "group.tags": group.tags,
      "group.rule": group.rule,
      "group.weights": group.weights,
      "group.members_quiet": group.members_quiet,
    }),
  }),
  bodyOf: (values) => ({
    group: {
      monitors: values["group.monitors"],
      tags: values["group.tags"],
      rule: values["group.rule"],
      weights: usedWeights(values["group.rule"], values["group.weights"]),
      members_quiet: values["group.members_quiet"],
    },
  }),
  suggestedName: () => "",
  labels: (t) => ({
    "group.monitors": t.form.groupMonitors,
    "group.tags": t.form.groupTags,
    "group.rule": t.form.groupRule,
    "group.weights": t.form.groupWeights,
    "group.members_quiet": t.form.groupQuiet,
  }),
  Target,
};

function Target({ form }: { form: Form<GroupValues> }) {
  const t = useTexts();
  const { data: monitors = [] } = useQuery(monitorsQuery);
  const named = monitors.map(({ monitorid, name }) => ({ value: monitorid, label: name }));
  const selector = { everything: false, all_tags: [], monitors: form.values["group.monitors"], tags: form.values["group.tags"] };
  const members = monitors.filter((monitor) => covers(selector, monitor));
  return (
    <>
      <MultiSelect
        name="group.monitors"
        label={t.form.groupMonitors}
        description={t.form.groupMonitorsHelp}
        data={named}
        value={form.values["group.monitors"]}
        error={form.errors["group.monitors"] ?? form.errors["group"]}
        onChange={(ids) => form.set("group.monitors", ids)}
        searchable
      />
      <TagsInput
        name="group.tags"
        label={t.form.groupTags}
        description={t.form.groupTagsHelp}
        value={form.values["group.tags"]}
        error={form.errors["group.tags"]}
        onChange={(tags) => form.set("group.tags", tags)}
      />
      <Rule form={form} members={members} />
      <Switch {...flag(form, "group.members_quiet")} label={t.form.groupQuiet} description={t.form.groupQuietHelp} />
    </>
  );
}

/** The rule, in a sentence too, and the weights of the members if it needs them. */
function Rule({ form, members }: { form: Form<GroupValues>; members: readonly MonitorRow[] }) {
  const t = useTexts();
  const { kind, number } = parseRule(form.values["group.rule"]);
  const weights = form.values["group.weights"];
  const set = (to: RuleKind, count: number | "") => form.set("group.rule", ruleText(to, count));
  const total = kind === "weight" ? members.reduce((sum, { monitorid }) => sum + (weights[monitorid] ?? 1), 0) : members.length;
  return (
    <>
      <FieldPair>
        <Select
          name="group.rule"
          label={t.form.groupRule}
          description={t.form.groupRuleHelp}
          data={ruleKinds.map((value) => ({ value, label: t.form.groupRules[value] }))}
          allowDeselect={false}
          value={kind}
          error={isCounted(kind) ? undefined : form.errors["group.rule"]}
          onChange={(word) => set(find(ruleKinds, word) ?? kind, number === "" ? 1 : number)}
        />
        {isCounted(kind) && (
          <NumberInput
            name="group.rule"
            label={t.form.groupNumber[kind]}
            description={t.form.groupNumberHelp[kind]}
            value={number}
            error={form.errors["group.rule"]}
            min={1}
            allowDecimal={false}
            allowNegative={false}
            onChange={(value) => set(kind, typeof value === "number" ? value : "")}
          />
        )}
      </FieldPair>
      <p className={styles.sentence} role="status">
        {t.form.groupSentence[kind](number === "" ? 0 : number, total)}
      </p>
      {kind === "weight" && (
        <fieldset className={styles.weights}>
          <legend>{t.form.groupWeights}</legend>
          {members.length === 0 && <p>{t.form.groupNoMembers}</p>}
          {members.map(({ monitorid, name }) => (
            <NumberInput
              key={monitorid}
              name={`group.weights.${monitorid}`}
              label={name}
              value={weights[monitorid] ?? 1}
              min={1}
              max={100}
              allowDecimal={false}
              allowNegative={false}
              onChange={(value) => form.set("group.weights", { ...weights, [monitorid]: typeof value === "number" ? value : 1 })}
            />
          ))}
          {form.errors["group.weights"] !== undefined && <p className={styles.error}>{form.errors["group.weights"]}</p>}
        </fieldset>
      )}
    </>
  );
}
