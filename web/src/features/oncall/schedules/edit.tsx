/** Creates or edits an on-call schedule. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { saveSchedule, schedulesQuery, type Schedule } from "../../../shared/api/schedules";
import { knownZone, readerZone } from "../../../shared/lib/zone";
import { useTexts } from "../../../shared/i18n";
import { useNavigate } from "../../../shared/router";
import { ErrorNotice, FormError } from "../../../shared/ui/error-notice";
import { useForm } from "../../../shared/ui/form";
import { RequiredField } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { Loading } from "../../../shared/ui/loading";
import { NotFound } from "../../../shared/ui/not-found";
import { Page, Panel } from "../../../shared/ui/page";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { ZoneField } from "../../../shared/ui/zone-field";
import styles from "../oncall.module.css";
import { WeekChart } from "./chart";
import { Layers } from "./layers";
import { shiftsOf } from "./shifts";
import { bodyOf, check, initial, layersOf, valuesOf, type Values } from "./values";
import { mondayOf, rangeOf } from "./week";

export function ScheduleEditor({ id }: { id: string | undefined }) {
  const { nav } = useTexts();
  const { data, error, refetch } = useQuery({ ...schedulesQuery, enabled: id !== undefined });
  if (id === undefined) return <Editor key="new" />;
  if (!data) return <Page title={nav.oncall}>{error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</Page>;
  const stored = data.find(({ scheduleid }) => scheduleid === id);
  return stored ? <Editor key={id} stored={stored} /> : <NotFound instead={["/oncall", nav.oncall]} />;
}

function Editor({ stored }: { stored?: Schedule }) {
  const t = useTexts();
  const { oncall } = t;
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  // A change by someone else does not replace what is being edited.
  const [start] = useState(() => (stored ? valuesOf(stored) : initial(Date.now(), readerZone())));
  const form = useForm(
    start,
    async (values) => {
      const saved = await saveSchedule(client, bodyOf(values, stored?.scheduleid));
      leaving.current = true;
      showToast(stored ? t.form.saved(saved.name) : t.maintenance.created(saved.name));
      await navigate(`/oncall?schedule=${saved.scheduleid}`, { replace: true });
    },
    (values) => check(values, t),
  );
  return (
    <Page title={stored ? t.form.editTitle(stored.name) : oncall.newTitle}>
      <form className={styles.scheduleForm} onSubmit={form.submit} noValidate>
        <Panel>
          <div className={page.fields}>
            <RequiredField form={form} field="name" label={t.form.name} maxLength={255} autoComplete="off" />
            <ZoneField form={form} label={t.maintenance.form.zone} help={oncall.zoneHelp} />
          </div>
        </Panel>
        <Layers form={form} />
        <Preview values={form.values} />
        <div className={page.foot}>
          <FormError text={form.fault} />
          <div className={page.buttons}>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={form.busy}>
              {stored ? t.common.save : oncall.create}
            </Button>
          </div>
        </div>
      </form>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}

/** This week by the layers in the form, without overrides. */
function Preview({ values }: { values: Values }) {
  const { oncall } = useTexts();
  const [now] = useState(Date.now);
  const zone = knownZone(values.time_zone);
  const monday = mondayOf(now, zone);
  const layers = layersOf(values);
  const gaps = shiftsOf(layers, zone, rangeOf(monday, zone)).filter(({ userid }) => userid === null).length;
  return (
    <Panel title={oncall.preview} lead={oncall.previewLead}>
      <div className={styles.week}>
        {gaps > 0 && (
          <p className={styles.gaps} role="status">
            {oncall.gaps(gaps)}
          </p>
        )}
        <WeekChart schedule={{ ...values, layers }} monday={monday} />
      </div>
    </Panel>
  );
}
