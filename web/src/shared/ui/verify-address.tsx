/** Shown while the user's address is not verified: what that means, and a button that sends a link. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { POST, unwrap } from "../api/client";
import { useMe } from "../api/session";
import { useTexts } from "../i18n";
import { useErrorMessage } from "./error-message";
import { showToast } from "./toast";
import styles from "./verify-address.module.css";

export function VerifyAddress() {
  const t = useTexts();
  const { email, email_verified, mail_server } = useMe();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  if (email_verified || !mail_server) return null;
  const send = () => {
    setBusy(true);
    unwrap(POST("/api/v1/email/send"))
      .then(() => showToast(t.verifyAddress.sent(email)))
      .catch((error: unknown) => showToast(errorMessage(error), true))
      .finally(() => setBusy(false));
  };
  return (
    <div className={styles.notice}>
      <div>
        <b>{t.verifyAddress.title(email)}</b>
        <p>{t.verifyAddress.help}</p>
      </div>
      <Button variant="default" size="xs" loading={busy} onClick={send}>
        {t.verifyAddress.send}
      </Button>
    </div>
  );
}
