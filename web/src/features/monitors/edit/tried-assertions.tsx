/** What a test found: the result of each condition, and the values that a condition can be made of. */
import { useTexts } from "../../../shared/i18n";
import type { Evidence } from "../data";
import { conditionOf, fieldsOf, type AssertionValues, type SeenValue } from "./assertion";
import styles from "./assertions.module.css";

interface Props {
  evidence: Evidence;
  /** The conditions that were tested. */
  tested: readonly AssertionValues[];
  add: (condition: AssertionValues) => void;
}

export function TriedAssertions({ evidence, tested, add }: Props) {
  const { assertions: t } = useTexts();
  const seen = seenIn(evidence);
  return (
    <>
      {evidence.assertions.length > 0 && (
        <ul className={styles.results} aria-label={t.results}>
          {evidence.assertions.map(({ index, passed, fails_as, found, message }) => (
            <li key={index} data-result={passed ? "passed" : fails_as === "degraded" ? "warning" : "failed"}>
              {passed ? t.passed(labelOf(tested[index]), found ?? "–") : `${t.failed}: ${message}`}
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

function labelOf(row: AssertionValues | undefined): string {
  return row ? [row.source, row.property].filter(Boolean).join(" ") : "";
}

/** The fields and headers of the response. Those that were redacted cannot be compared. */
function seenIn({ response }: Evidence): SeenValue[] {
  if (!response) return [];
  const headers = response.headers.map(([property = "", value = ""]) => ({ source: "header" as const, property, value }));
  return [...fieldsOf(response.body), ...headers].filter(({ value }) => !value.includes("[redacted]"));
}
