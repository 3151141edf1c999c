/** Error messages within a page or a form. */
import { Button } from "@mantine/core";
import { useTexts } from "../i18n";
import { useErrorMessage } from "./error-message";
import styles from "./error-notice.module.css";

/** Content that could not be loaded, with a button to try again. */
export function ErrorNotice({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  return (
    <div className={styles.notice} role="alert">
      <p>{errorMessage(error)}</p>
      {retry && (
        <Button variant="default" size="xs" onClick={retry}>
          {t.common.retry}
        </Button>
      )}
    </div>
  );
}

/** An error that concerns the form as a whole. */
export function FormError({ text }: { text: string | null }) {
  return text === null ? null : (
    <p className={styles.formError} role="alert">
      {text}
    </p>
  );
}
