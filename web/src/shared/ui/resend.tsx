/** Sends a message again, whether it was delivered, has failed, or is waiting for its next attempt. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { resend, type ShownDeliveryState } from "../api/deliveries";
import { useMay } from "../api/session";
import { useTexts } from "../i18n";
import { Refresh } from "./icons";
import { showToast } from "./toast";
import { useErrorMessage } from "./error-message";

export function Resend({ deliveryid, state, about }: { deliveryid: string; state: ShownDeliveryState; about: string }) {
  const t = useTexts();
  const responds = useMay("respond");
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
  // The first attempt of a new message is only a moment away.
  if (!responds || state === "waiting") return null;
  const retry = state === "retrying";
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      leftSection={<Refresh />}
      loading={busy}
      onClick={again}
      aria-label={retry ? t.notifiers.retryNowLabel(about) : t.notifiers.resendLabel(about)}
    >
      {retry ? t.notifiers.retryNow : t.notifiers.resend}
    </Button>
  );
}
