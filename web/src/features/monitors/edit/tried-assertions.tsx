/** What a test found: the result of each condition, and the values that a condition can be made of. */
import { useTexts, type Texts } from "../../../shared/i18n";
import type { Evidence } from "../data";
import { conditionOf, seenValues, type AssertionValues } from "./assertion";
import styles from "./assertions.module.css";

interface Props {
  evidence: Evidence;
  /** The conditions that were tested. */
  tested: readonly AssertionValues[];
  add: (condition: AssertionValues) => void;
}

export function TriedAssertions({ evidence, tested, add }: Props) {
  const { assertions: t } = useTexts();
  const seen = evidence.response ? seenValues(evidence.response) : [];
  return (
    <>
      {evidence.assertions.length > 0 && (
        <ul className={styles.results} aria-label={t.results}>
          {evidence.assertions.map((result) => (
            <li key={result.index} data-result={outcomeOf(result)}>
              <b>{t.outcomes[outcomeOf(result)]}</b> {wordsOf(result, tested[result.index], t)}
            </li>
          ))}
        </ul>
      )}
      {seen.length > 0 && (
        <details className={styles.seen}>
          <summary>{t.seen}</summary>
          <div className={styles.fields}>
            {seen.map((value) => (
              <button key={`${value.source} ${value.property}`} type="button" onClick={() => add(conditionOf(value))}>
                {value.property}: {value.value.slice(0, 60)}
              </button>
            ))}
          </div>
        </details>
      )}
    </>
  );
}

type Result = Evidence["assertions"][number];

/** What the result of a condition means for the monitor. */
function outcomeOf({ passed, fails_as }: Result): "passed" | "warning" | "failed" {
  return passed ? "passed" : fails_as === "degraded" ? "warning" : "failed";
}

/** What was compared, and the value that was found. A message about a failure quotes the value. */
function wordsOf({ passed, message, found }: Result, row: AssertionValues | undefined, t: Texts["assertions"]): string {
  if (!passed) return message;
  const compared = row ? [t.sources[row.source], row.property && (t.properties[row.property] ?? row.property)] : [];
  return `${compared.filter(Boolean).join(" ")}: ${found ?? "–"}`;
}
