/** Sends a message once more: one that arrived, one that was given up, or one that waits for its next try. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { resend, type DeliveryState } from "../api/deliveries";
import { useTexts } from "../i18n";
import { Refresh } from "./icons";
import { showToast } from "./toast";
import { useErrorMessage } from "./error-message";

export function Resend({ deliveryid, standing, about }: { deliveryid: string; standing: DeliveryState; about: string }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const again = () => {
    setBusy(true);
    resend(client, deliveryid)
      .then(() => showToast(t.notifiers.resent))
      .catch((error: unknown) => showToast(errorMessage(error), true))
      .finally(() => setBusy(false));
  };
  // The first try of a new message is a moment away.
  if (standing === "waiting") return null;
  const retry = standing === "retrying";
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      leftSection={<Refresh />}
      loading={busy}
      onClick={again}
      aria-label={retry ? t.notifiers.tryNowLabel(about) : t.notifiers.resendLabel(about)}
    >
      {retry ? t.notifiers.tryNow : t.notifiers.resend}
    </Button>
  );
}
