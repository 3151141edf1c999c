/** Runs what a button does, and shows why it failed. */
import { useState } from "react";
import { ApiError } from "../api/error";
import { useErrorMessage } from "./error-message";
import { showToast } from "./toast";

/** Runs an action, one at a time, and shows why it failed. */
export function useRun(): [busy: boolean, run: (act: () => Promise<void>) => void] {
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const run = (act: () => Promise<void>) => {
    setBusy(true);
    act()
      .catch((error: unknown) => {
        // If the session has ended, the login page says so.
        if (!(error instanceof ApiError && error.signedOut)) showToast(errorMessage(error), true);
      })
      .finally(() => setBusy(false));
  };
  return [busy, run];
}
