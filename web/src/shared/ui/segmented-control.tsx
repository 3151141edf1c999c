/** A few choices side by side, one of them selected. */
import styles from "./segmented-control.module.css";

interface Props<C extends string | number> {
  label: string;
  choices: readonly (readonly [C, string])[];
  /** Null if none is. */
  chosen: C | null;
  choose: (choice: C) => void;
}

export function SegmentedControl<C extends string | number>({ label, choices, chosen, choose }: Props<C>) {
  return (
    <div className={styles.segments} role="group" aria-label={label}>
      {choices.map(([choice, word]) => (
        <button key={choice} type="button" aria-pressed={chosen === choice} onClick={() => choose(choice)}>
          {word}
        </button>
      ))}
    </div>
  );
}
