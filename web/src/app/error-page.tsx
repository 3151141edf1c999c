/** Shown in place of a page that crashed, could not be loaded or does not exist. */
import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useOnline } from "../shared/lib/online";
import { useFirstTexts } from "../shared/i18n";
import { useLocation } from "../shared/router";
import { EmptyState } from "../shared/ui/empty-state";
import { Loading } from "../shared/ui/loading";
import { NotFound } from "../shared/ui/not-found";
import { isChunkLoadError } from "./chunk-load-error";
import { useHome } from "./home";
import { AWAY_RETRY_INTERVAL, serverState, type ServerState } from "./server-state";
import { removeServiceWorker } from "./service-worker";

export function ErrorPage({ error }: { error: unknown }) {
  const { key } = useLocation();
  return isChunkLoadError(error) ? <ChunkLoadError key={key} /> : <RenderError />;
}

function RenderError() {
  const t = useFirstTexts();
  return (
    <EmptyState title={t.errors.crashed} page>
      <p>{t.errors.crashedHelp}</p>
      <Reload />
    </EmptyState>
  );
}

/**
 * The page's files could not be loaded. The server says why: it has another version, which a
 * reload gets, or it does not respond, and the page reloads once it does.
 */
function ChunkLoadError() {
  const t = useFirstTexts();
  const state = useServerState();
  if (state === "unknown") return <Loading />;
  return (
    <EmptyState title={state === "updated" ? t.errors.updated : t.errors.notLoaded} page>
      <p>{t.errors.notLoadedHelp[state]}</p>
      {state !== "away" && <Reload />}
    </EmptyState>
  );
}

/** Asks the server until it responds; reloads if it was away before. */
function useServerState(): ServerState | "unknown" {
  const [state, setState] = useState<ServerState | "unknown">("unknown");
  const wasAway = useRef(false);
  const online = useOnline();
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const found = await serverState(abort.signal);
      if (abort.signal.aborted) return;
      if (wasAway.current && found !== "away") return window.location.reload();
      wasAway.current = found === "away";
      setState(found);
      if (found === "away") timer = setTimeout(() => void ask(), AWAY_RETRY_INTERVAL);
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [online]);
  return state;
}

/** Without the service worker, so that a reload never repeats an error that a cached file caused. */
function Reload() {
  const t = useFirstTexts();
  const reload = () => void removeServiceWorker().finally(() => window.location.reload());
  return <Button onClick={reload}>{t.common.reload}</Button>;
}

export function NotFoundPage() {
  return <NotFound instead={useHome()} />;
}
