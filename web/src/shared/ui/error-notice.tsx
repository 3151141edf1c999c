/** Error messages within a page or a form. */
import { Button } from "@mantine/core";
import { Suspense } from "react";
import { useFirstTexts, useTexts } from "../i18n";
import { errorMessage, isFromService, ownMessage } from "./error-message";
import styles from "./error-notice.module.css";

/** Content that could not be loaded, with a button to try again. */
export function ErrorNotice({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useFirstTexts();
  return (
    <div className={styles.notice} role="alert">
      <p>
        {isFromService(error) ? (
          <Suspense>
            <ServiceMessage error={error} />
          </Suspense>
        ) : (
          ownMessage(t, error)
        )}
      </p>
      {retry && (
        <Button variant="default" size="xs" onClick={retry}>
          {t.common.retry}
        </Button>
      )}
    </div>
  );
}

function ServiceMessage({ error }: { error: unknown }) {
  return errorMessage(useTexts(), error);
}

/** An error that concerns the form as a whole. */
export function FormError({ text }: { text: string | null }) {
  return text === null ? null : (
    <p className={styles.formError} role="alert">
      {text}
    </p>
  );
}
