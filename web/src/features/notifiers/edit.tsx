/** Creates or edits a notifier. */
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { kindOfNotifier } from "../../shared/api/notifiers";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { useNavigate, useParams, useSearchParams } from "../../shared/router";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { NotFound } from "../../shared/ui/not-found";
import { Page } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../shared/ui/unsaved-changes";
import { notifiersQuery, type Notifier } from "./data";
import { hasSecret, NotifierFields, Secret, useNotifierForm } from "./form";
import { Gallery } from "./gallery";
import { offeredKind } from "./kinds";
import { initial, valuesOf, type Values } from "./values";

export function Component() {
  const t = useTexts();
  const { id } = useParams();
  const { email } = useMe();
  const [search] = useSearchParams();
  const { data, error, refetch } = useQuery({ ...notifiersQuery, enabled: id !== undefined });
  const kind = offeredKind(search.get("kind"));
  if (id === undefined) return kind ? <Editor key={kind} start={initial(kind, email)} /> : <ChooseKind />;
  const found = data?.find((notifier) => notifier.notifierid === id);
  // Without its secrets, it was fetched before the user got this role, and is being fetched again.
  if (found?.redacted) return <Loading />;
  if (found) return <Editor key={id} was={found} start={valuesOf(found, kindOfNotifier(found, t.notifiers.kinds))} />;
  if (data) return <NotFound instead={["/notifiers", t.notifiers.title]} />;
  return error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />;
}

function ChooseKind() {
  const t = useTexts();
  const navigate = useNavigate();
  return (
    <Page title={t.notifiers.new}>
      <Gallery choose={(kind) => void navigate(`/notifier/new?kind=${kind}`)} />
    </Page>
  );
}

function Editor({ was, start }: { was?: Notifier; start: Values }) {
  const t = useTexts();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const [created, setCreated] = useState<Notifier | null>(null);
  const open = (notifier: Notifier) => void navigate(`/notifier/${notifier.notifierid}`, { replace: true });
  const { form, taken } = useNotifierForm(was, start, (saved, values) => {
    leaving.current = true;
    if (hasSecret(saved, values)) return setCreated(saved);
    showToast(t.form.saved(saved.name));
    open(saved);
  });
  if (created) {
    return (
      <Page title={t.notifiers.createdTitle(created.name)} narrow>
        <Secret notifier={created} done={() => open(created)} />
      </Page>
    );
  }
  return (
    <Page title={was ? t.form.editTitle(was.name) : t.notifiers.new}>
      <NotifierFields
        form={form}
        taken={taken}
        was={was}
        cancel={() => void navigate(-1)}
        {...(!was && { chooseKind: () => void navigate("/notifier/new", { replace: true }) })}
      />
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}
