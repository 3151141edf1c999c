/** What someone else has saved while this form was open. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { notifiersQuery } from "../../../shared/api/notifiers";
import { policiesQuery } from "../../../shared/api/policies";
import { useTexts } from "../../../shared/i18n";
import type { Form } from "../../../shared/ui/form";
import { formOf } from "../types";
import type { Conflict } from "./changes";
import styles from "./edit.module.css";
import { labelsOf, type Values } from "./values";

export function Conflicts({ conflicts, form }: { conflicts: readonly Conflict[]; form: Form<Values> }) {
  const t = useTexts();
  const shown = useShown();
  const labels: Partial<Record<string, string>> = { ...labelsOf(t), ...formOf(form.values.type).labels(t) };
  return (
    <div className={styles.conflicts} role="alert">
      <b>{t.form.conflict}</b>
      <p>{t.form.conflictHelp}</p>
      <ul>
        {conflicts.map(({ field, theirs, both }) => (
          <li key={field}>
            <span>
              {labels[field] ?? field}: {t.form.conflictNow} <b>{shown(field, theirs)}</b>
              {both && (
                <>
                  {", "}
                  {t.form.conflictMine} <b>{shown(field, form.values[field])}</b>
                </>
              )}
            </span>
            {both && (
              <Button variant="subtle" size="compact-xs" onClick={() => form.set(field, theirs as Values[typeof field])}>
                {t.form.conflictTake}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A value in words. */
function useShown(): (field: keyof Values, value: unknown) => string {
  const t = useTexts();
  const { data } = useQuery(notifiersQuery);
  const { data: policies } = useQuery(policiesQuery);
  const name = (id: string) => data?.find(({ notifierid }) => notifierid === id)?.name ?? id;
  return (field, value) => {
    if (field === "policyid") return policies?.find(({ policyid }) => policyid === value)?.name ?? t.escalation.noPolicy;
    if (typeof value === "boolean") return value ? t.notifiers.on : t.notifiers.off;
    if (field === "assertions") return String((value as Values["assertions"]).length);
    const text = Array.isArray(value)
      ? value.map((item) => (field === "notifiers" ? name(String(item)) : String(item))).join(", ")
      : String(value);
    return text === "" ? "–" : text;
  };
}
