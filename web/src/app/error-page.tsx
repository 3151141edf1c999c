/** Shown in place of a page that crashed, could not be loaded or does not exist. */
import { Button } from "@mantine/core";
import { useEffect } from "react";
import { useRouteError } from "react-router";
import { useOnline } from "../shared/lib/online";
import { useTexts } from "../shared/i18n";
import { EmptyState } from "../shared/ui/empty-state";
import { NotFound } from "../shared/ui/not-found";
import { isChunkLoadError } from "./chunk-load-error";

export function ErrorPage() {
  const error = useRouteError();
  return isChunkLoadError(error) ? <ChunkLoadError /> : <RenderError />;
}

function RenderError() {
  const t = useTexts();
  return (
    <EmptyState title={t.errors.crashed}>
      <p>{t.errors.crashedHelp}</p>
      <Reload />
    </EmptyState>
  );
}

/**
 * The page's files could not be loaded. Offline, the page reloads as soon as the
 * network is back; online, the files belong to an older version and a reload
 * gets the new one.
 */
function ChunkLoadError() {
  const t = useTexts();
  const online = useOnline();
  useEffect(() => {
    const reload = () => window.location.reload();
    window.addEventListener("online", reload);
    return () => window.removeEventListener("online", reload);
  }, []);
  return (
    <EmptyState title={online ? t.errors.updated : t.errors.notLoaded}>
      <p>{online ? t.errors.updatedHelp : t.errors.notLoadedHelp}</p>
      {online && <Reload />}
    </EmptyState>
  );
}

function Reload() {
  const t = useTexts();
  return <Button onClick={() => window.location.reload()}>{t.common.reload}</Button>;
}

export function NotFoundPage() {
  const t = useTexts();
  return <NotFound instead={["/", t.nav.monitors]} />;
}
