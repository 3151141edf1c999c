/** The result of a test: the receiver's response, and the recipients that were refused. */
import { useTexts } from "../../shared/i18n";
import type { Recipients } from "../../shared/api/deliveries";
import { RefusedRecipients } from "../../shared/ui/recipients";
import styles from "./notifiers.module.css";

export interface Answer {
  text: string;
  failed: boolean;
  recipients?: Recipients;
}

export function TestAnswer({ answer }: { answer: Answer }) {
  const t = useTexts();
  const partly = !answer.failed && (answer.recipients?.refused.length ?? 0) > 0;
  return (
    <div className={styles.answer} data-failed={answer.failed || undefined} data-partly={partly || undefined} role="status">
      <b>{answer.failed ? t.notifiers.testFailed : partly ? t.notifiers.testPartly : t.notifiers.testDone}</b>
      <RefusedRecipients recipients={answer.recipients} />
      <pre>{answer.text === "" ? t.notifiers.noAnswer : answer.text}</pre>
    </div>
  );
}
