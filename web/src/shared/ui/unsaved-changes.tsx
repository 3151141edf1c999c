/** Asks for confirmation before unsaved changes are lost. */
import { useEffect, useRef } from "react";
import { useBlocker } from "../router";
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
  const blocked = useBlocker(when);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (latest.current()) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, []);
  if (!blocked) return null;
  return (
    <Confirm
      title={t.form.leaveTitle}
      action={t.form.leave}
      cancel={t.form.stay}
      close={() => blocked.stay()}
      run={() => {
        blocked.proceed();
        return Promise.resolve();
      }}
    >
      {t.form.leaveHelp}
    </Confirm>
  );
}
