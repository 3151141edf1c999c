/** The providers around every page: texts, theme, query cache, router. */
import { MantineProvider } from "@mantine/core";
import { noop, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { onRefused } from "../shared/api/client";
import { monitorsQuery } from "../shared/api/monitors";
import { meQuery, onTeamLost } from "../shared/api/session";
import { tabTeam } from "../shared/api/tab-team";
import { watchSessionExpiry } from "../shared/api/session-expiry";
import { ApiError } from "../shared/api/error";
import { loadTexts, TextProvider } from "../shared/i18n";
import { RouterProvider } from "../shared/router";
import { useScheme } from "../shared/ui/scheme";
import { theme } from "../shared/ui/theme";
import { showToast, Toasts } from "../shared/ui/toast";
import { Pages } from "./pages";
import { router } from "./routes";

/** Client errors are final; only failures that may be temporary are retried. */
function worthRetrying(failures: number, error: unknown): boolean {
  return failures < 2 && !(error instanceof ApiError && error.status < 500);
}

const client = new QueryClient({
  defaultOptions: { queries: { retry: worthRetrying, staleTime: 10_000 } },
});
watchSessionExpiry(client);
onRefused(() => {
  // If it is being fetched, that may be the call that was refused.
  if (client.isFetching({ queryKey: meQuery.queryKey }) === 0) void client.invalidateQueries({ queryKey: meQuery.queryKey });
});
onTeamLost(() => {
  const route = router.state().shown?.route;
  if (route && route.audience !== "everyone") void router.navigate("/", { replace: true });
  void loadTexts().then(({ teams }) => showToast(teams.lost, true), noop);
});
void prefetch();

/** The team whose dashboard this tab has shown. */
const SHOWN_KEY = "wakeful.shown";

/**
 * Requests the user, and the monitors for the dashboard, while the texts are still loading: both at once in a tab
 * that has shown them before.
 */
async function prefetch(): Promise<void> {
  const user = client.query(meQuery).catch(noop);
  if (window.location.pathname !== "/") return;
  const shown = sessionStorage.getItem(SHOWN_KEY);
  if (shown === null || shown !== tabTeam()) {
    await user;
    if (!client.getQueryData(meQuery.queryKey)?.permissions.includes("view")) return;
  }
  sessionStorage.removeItem(SHOWN_KEY);
  await client.query(monitorsQuery).then(() => sessionStorage.setItem(SHOWN_KEY, tabTeam() ?? ""), noop);
}

export function App() {
  const { shown } = useScheme();
  return (
    <MantineProvider theme={theme} forceColorScheme={shown} withCssVariables={false} withGlobalClasses={false}>
      <TextProvider>
        <QueryClientProvider client={client}>
          <RouterProvider router={router}>
            <Pages />
          </RouterProvider>
          <Toasts />
        </QueryClientProvider>
      </TextProvider>
    </MantineProvider>
  );
}
