/** Creates or edits a monitor. */
import { useQuery } from "@tanstack/react-query";
import { isNotFound } from "../../../shared/api/error";
import { useTexts } from "../../../shared/i18n";
import { useParams, useSearchParams } from "../../../shared/router";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Loading } from "../../../shared/ui/loading";
import { NotFound } from "../../../shared/ui/not-found";
import { Page } from "../../../shared/ui/page";
import { notifiersQuery } from "../../../shared/api/notifiers";
import { monitorQuery, type Type } from "../data";
import { Editor } from "./editor";
import { initial, typeOf, valuesOf } from "./values";

export function Component() {
  const t = useTexts();
  const { id } = useParams();
  const [search] = useSearchParams();
  const from = id ?? search.get("from");
  const { data, error, refetch } = useQuery({ ...monitorQuery(from ?? ""), enabled: from !== null });
  if (from === null) return <New type={typeOf(search.get("type"))} />;
  if (!data && isNotFound(error)) return <NotFound instead={["/", t.nav.monitors]} />;
  // Without its secrets, it was fetched before the user got this role, and is being fetched again.
  if (!data || data.redacted) {
    return (
      <Page title={t.nav.monitors} narrow>
        {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}
      </Page>
    );
  }
  if (id !== undefined) return <Editor key={id} stored={data} start={valuesOf(data)} />;
  return <Editor key={`from ${from}`} start={{ ...valuesOf(data), name: t.form.copyOf(data.name) }} />;
}

/** A new monitor starts with the team's default notifiers. */
function New({ type }: { type: Type }) {
  const t = useTexts();
  const { data, isPending } = useQuery(notifiersQuery);
  if (isPending) {
    return (
      <Page title={t.form.newTitle}>
        <Loading />
      </Page>
    );
  }
  const chosen = (data ?? []).filter(({ isdefault }) => isdefault).map(({ notifierid }) => notifierid);
  return <Editor key="new" start={{ ...initial(type), notifiers: chosen }} />;
}
