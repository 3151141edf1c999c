/** The steps of a policy as a timeline, and what happens after the last one in a sentence. */
import { interval } from "../../../shared/lib/time";
import { useLanguage, useTexts, type Texts } from "../../../shared/i18n";
import line from "../../../shared/ui/timeline.module.css";
import styles from "../timeline.module.css";
import { useTargetName } from "./targets";
import { timesOf, type TargetKey } from "./values";

interface Props {
  label: string;
  steps: readonly { after: number; notify: readonly TargetKey[] }[];
}

export function StepTimeline({ label, steps }: Props) {
  const { escalation } = useTexts();
  const { locale } = useLanguage();
  const nameOf = useTargetName();
  const times = timesOf(steps);
  const list = (words: string[]) => new Intl.ListFormat(locale, { type: "conjunction" }).format(words);
  return (
    <ol className={line.timeline} aria-label={label}>
      {steps.map(({ notify }, place) => (
        <li key={place} data-kind="person">
          <span className={line.at}>{timeText(times[place] ?? 0, escalation)}</span>
          <div className={line.entry}>
            {notify.length === 0 ? <span className={styles.missing}>{escalation.nobodyYet}</span> : list(notify.map(nameOf))}
          </div>
        </li>
      ))}
    </ol>
  );
}

export function timeText(seconds: number, { atOnce, after }: Texts["escalation"]): string {
  return seconds === 0 ? atOnce : after(interval(seconds));
}

/** Whether it is repeated, and what happens to an alert that was acknowledged and lasts. */
export function aftermath(policy: { repeat: number; every: number; ack_timeout: number }, { escalation }: Texts): string {
  const { repeat, every, ack_timeout } = policy;
  const repeated = repeat === 0 ? escalation.noRepeat : escalation.repeated(repeat, interval(every));
  return `${repeated} ${ack_timeout === 0 ? escalation.noTimeout : escalation.timeout(interval(ack_timeout))}`;
}
