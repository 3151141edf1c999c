/** Asks for confirmation before unsaved changes are lost. */
import { useEffect, useRef } from "react";
import { useBlocker } from "react-router";
import { trackUnsaved } from "../lib/unsaved";
import { useTexts } from "../i18n";
import { Confirm } from "./confirm";

export function UnsavedChangesGuard({ when }: { when: () => boolean }) {
  const t = useTexts();
  const latest = useRef(when);
  useEffect(() => {
    latest.current = when;
  });
  useEffect(() => trackUnsaved(() => latest.current()), []);
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    return currentLocation.pathname !== nextLocation.pathname && latest.current();
  });
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (latest.current()) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, []);
  if (blocker.state !== "blocked") return null;
  return (
    <Confirm
      title={t.form.leaveTitle}
      action={t.form.leave}
      cancel={t.form.stay}
      close={() => blocker.reset()}
      run={() => {
        blocker.proceed();
        return Promise.resolve();
      }}
    >
      {t.form.leaveHelp}
    </Confirm>
  );
}
