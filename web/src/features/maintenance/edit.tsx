/** Creates or edits a maintenance window. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { isNotFound } from "../../shared/api/error";
import { maintenanceQuery, saveMaintenance, type Maintenance } from "../../shared/api/maintenances";
import { readerZone } from "../../shared/lib/zone";
import { useTexts } from "../../shared/i18n";
import { useNavigate, useSearchParams } from "../../shared/router";
import { ErrorNotice, FormError } from "../../shared/ui/error-notice";
import { useForm } from "../../shared/ui/form";
import { Loading } from "../../shared/ui/loading";
import { NotFound } from "../../shared/ui/not-found";
import { Page } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../shared/ui/unsaved-changes";
import page from "../../shared/ui/form-page.module.css";
import { About, AnnounceFields, EffectFields, Selection } from "./form";
import { Preview } from "./preview";
import { ScheduleFields } from "./schedule-fields";
import { bodyOf, changesOf, check, initial, valuesOf, type Values } from "./values";

export function WindowEditor({ id }: { id: string | undefined }) {
  const t = useTexts();
  const [search] = useSearchParams();
  const { data, error, refetch } = useQuery({ ...maintenanceQuery(id ?? ""), enabled: id !== undefined });
  const [start] = useState(() => initial(Date.now(), readerZone()));
  if (id === undefined) return <Editor key="new" start={{ ...start, monitors: search.getAll("monitor") }} />;
  if (!data && isNotFound(error)) return <NotFound instead={["/maintenance", t.maintenance.title]} />;
  if (!data) {
    return <Page title={t.maintenance.title}>{error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</Page>;
  }
  return <Stored key={id} window={data.maintenance} />;
}

/** A change by someone else does not replace what is being edited. */
function Stored({ window }: { window: Maintenance }) {
  const [stored] = useState(window);
  const [start] = useState(() => valuesOf(window));
  return <Editor stored={stored} start={start} />;
}

function Editor({ stored, start }: { stored?: Maintenance; start: Values }) {
  const t = useTexts();
  const { maintenance } = t;
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const form = useForm(
    start,
    async (values) => {
      const saved = await saveMaintenance(client, stored ? changesOf(stored, values) : bodyOf(values));
      leaving.current = true;
      showToast(stored ? t.form.saved(saved.name) : maintenance.created(saved.name));
      await navigate(`/maintenance/${saved.maintenanceid}`, { replace: true });
    },
    (values) => check(values, t),
  );
  return (
    <Page title={stored ? t.form.editTitle(stored.name) : maintenance.newTitle}>
      <form className={page.form} onSubmit={form.submit} noValidate>
        <div className={page.sections}>
          <About form={form} stored={stored !== undefined} />
          <Selection form={form} />
          <ScheduleFields form={form} />
          <EffectFields form={form} />
          <AnnounceFields form={form} />
        </div>
        <aside className={page.beside}>
          <Preview form={form} id={stored?.maintenanceid} />
        </aside>
        <div className={page.foot}>
          <FormError text={form.fault} />
          <div className={page.buttons}>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={form.busy}>
              {stored ? t.common.save : maintenance.create}
            </Button>
          </div>
        </div>
      </form>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}
