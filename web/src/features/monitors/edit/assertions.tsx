/** The conditions of a monitor: rows of what, how it is compared, and what a failure means. */
import { Button, Select, Switch, TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import type { Form } from "../../../shared/ui/form";
import { Panel } from "../../../shared/ui/page";
import type { Type } from "../data";
import { formOf } from "../types";
import {
  comparisons,
  defaultMatch,
  hasSeveralValues,
  isNumeric,
  isTyped,
  isUnary,
  MAX_ASSERTIONS,
  propertiesOf,
  sourcesOf,
  startOf,
  withRow,
  type AssertionSource,
  type AssertionValues,
  type Comparison,
} from "./assertion";
import styles from "./assertions.module.css";
import type { Values } from "./values";

export function Assertions({ form }: { form: Form<Values> }) {
  const t = useTexts();
  const { type, assertions } = form.values;
  if (formOf(type).Passive || sourcesOf(type).length === 0) return null;
  const replace = (place: number, row: AssertionValues | null) => {
    const rows = row ? withRow(assertions, place, row) : assertions.toSpliced(place, 1);
    form.set("assertions", rows);
  };
  const first = sourcesOf(type)[0] ?? "response_time";
  return (
    <Panel title={t.assertions.title} lead={t.assertions.lead}>
      {assertions.length > 0 && (
        <ol className={styles.rows}>
          {assertions.map((row, place) => (
            // Rows have no identity of their own.
            <Row key={place} form={form} row={row} place={place} change={(next) => replace(place, next)} />
          ))}
        </ol>
      )}
      <Button
        variant="default"
        disabled={assertions.length >= MAX_ASSERTIONS}
        onClick={() => form.set("assertions", [...assertions, startOf(first)])}
      >
        {t.assertions.add}
      </Button>
    </Panel>
  );
}

interface RowProps {
  form: Form<Values>;
  row: AssertionValues;
  place: number;
  change: (row: AssertionValues | null) => void;
}

function Row({ form, row, place, change }: RowProps) {
  const { assertions: t } = useTexts();
  const field = (name: string) => ({ name: `assertions.${place}.${name}`, error: form.errors[`assertions.${place}.${name}`] });
  const known = sourcesOf(form.values.type);
  const sources = known.includes(row.source) ? known : [row.source, ...known];
  return (
    <li className={styles.row} aria-label={t.row(place + 1)}>
      <Select
        {...field("source")}
        aria-label={t.source}
        data={sources.map((value) => ({ value, label: t.sources[value] }))}
        value={row.source}
        allowDeselect={false}
        onChange={(value) => value && change({ ...startOf(value as AssertionSource), fails_as: row.fails_as })}
      />
      <Property row={row} type={form.values.type} change={change} {...field("property")} />
      <Select
        {...field("comparison")}
        aria-label={t.comparison}
        data={comparisons.map((value) => ({ value, label: t.comparisons[value] }))}
        value={row.comparison}
        allowDeselect={false}
        onChange={(value) => {
          const comparison = value as Comparison | null;
          if (comparison) change({ ...row, comparison, target: isUnary(comparison) || comparison === "unchanged" ? "" : row.target });
        }}
      />
      {row.comparison === "unchanged" && (
        <Select
          {...field("target")}
          aria-label={t.target}
          data={[
            { value: "", label: t.changeReported },
            { value: "pinned", label: t.changePinned },
          ]}
          value={row.target}
          allowDeselect={false}
          onChange={(value) => change({ ...row, target: value ?? "" })}
        />
      )}
      {!isUnary(row.comparison) && row.comparison !== "unchanged" && (
        <TextInput
          {...field("target")}
          aria-label={t.target}
          placeholder={t.target}
          maxLength={1024}
          autoComplete="off"
          value={row.target}
          onChange={({ currentTarget }) => change({ ...row, target: currentTarget.value })}
        />
      )}
      {hasSeveralValues(row) && (
        <Select
          {...field("match")}
          aria-label={t.match}
          data={(["any", "all"] as const).map((value) => ({ value, label: t.matches[value] }))}
          value={row.match ?? defaultMatch(row.source)}
          allowDeselect={false}
          onChange={(value) => value && change({ ...row, match: value as NonNullable<AssertionValues["match"]> })}
        />
      )}
      <Select
        {...field("fails_as")}
        aria-label={t.failsAs}
        data={(["down", "degraded"] as const).map((value) => ({ value, label: t.effects[value] }))}
        value={row.fails_as}
        allowDeselect={false}
        onChange={(value) => value && change({ ...row, fails_as: value as AssertionValues["fails_as"] })}
      />
      {isNumeric(row) && (
        <Switch
          {...field("chart")}
          label={t.chart}
          checked={row.chart ?? false}
          onChange={({ currentTarget }) => change({ ...row, chart: currentTarget.checked })}
        />
      )}
      <Button variant="subtle" size="compact-sm" onClick={() => change(null)} aria-label={t.removeRow(place + 1)}>
        {t.remove}
      </Button>
    </li>
  );
}

interface PropertyProps {
  row: AssertionValues;
  type: Type;
  change: RowProps["change"];
  name: string;
  error: string | undefined;
}

function Property({ row, type, change, ...field }: PropertyProps) {
  const { assertions: t } = useTexts();
  const known = propertiesOf(row.source, type);
  if (known) {
    const choices = known.includes(row.property) ? known : [row.property, ...known];
    return (
      <Select
        {...field}
        aria-label={t.property}
        data={choices.map((value) => ({ value, label: t.properties[value] ?? value }))}
        value={row.property}
        allowDeselect={false}
        onChange={(value) => value !== null && change({ ...row, property: value })}
      />
    );
  }
  if (!isTyped(row.source)) return null;
  return (
    <TextInput
      {...field}
      aria-label={t.property}
      placeholder={row.source === "json" ? "$.status" : "content-type"}
      maxLength={256}
      autoComplete="off"
      spellCheck={false}
      value={row.property}
      onChange={({ currentTarget }) => change({ ...row, property: currentTarget.value })}
    />
  );
}
