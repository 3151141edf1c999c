/** One incident: what it affects, its updates, and the next one. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { isNotFound } from "../../../shared/api/error";
import {
  deleteIncident,
  deleteUpdate,
  incidentQuery,
  publishIncident,
  saveUpdate,
  type Incident,
  type IncidentUpdate,
} from "../../../shared/api/incidents";
import { statuspagesQuery } from "../../../shared/api/statuspages";
import type { UpdateDeliveries } from "../../../shared/api/subscribers";
import { useTexts } from "../../../shared/i18n";
import { Link, useNavigate } from "../../../shared/router";
import { Confirm } from "../../../shared/ui/confirm";
import { DetailLayout, Fact, Facts } from "../../../shared/ui/detail-layout";
import { Dialog } from "../../../shared/ui/dialog";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { useForm } from "../../../shared/ui/form";
import { FormLayout } from "../../../shared/ui/form-layout";
import { Check, Pencil, Trash } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { NotFound } from "../../../shared/ui/not-found";
import { Page, Panel } from "../../../shared/ui/page";
import { Moment } from "../../../shared/ui/time";
import { showToast } from "../../../shared/ui/toast";
import { useRun } from "../../../shared/ui/use-run";
import { ComponentBadge, useMayChangePages } from "../labels";
import { RenderedText } from "../rendered-text";
import { BodyField } from "./body-field";
import { DetailsDialog } from "./details-dialog";
import styles from "./incidents.module.css";
import { IncidentBadge } from "./labels";
import { PostmortemPanel } from "./postmortem";
import { repeatValues } from "./repeat";
import { Deliveries, useDeliveries } from "./recipients";
import { UpdateForm } from "./update-form";
import { isOver } from "./values";

export function IncidentPage({ id }: { id: string }) {
  const { incidents: texts } = useTexts();
  const { data, error, isPending, refetch } = useQuery(incidentQuery(id));
  if (isPending || (!data && !isNotFound(error))) {
    return <Page title={texts.title}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (!data || isNotFound(error)) return <NotFound instead={["/incidents", texts.title]} />;
  return <Detail key={id} incident={data} />;
}

function Detail({ incident }: { incident: Incident }) {
  const { incidents: texts } = useTexts();
  const responds = useMayChangePages("respond");
  const { title, kind, state, updates, source } = incident;
  const deliveries = useDeliveries(incident);
  // An update by someone else does not replace what is being written.
  const [posted, setPosted] = useState(0);
  return (
    <DetailLayout
      title={title}
      badge={<IncidentBadge incident={incident} />}
      back={["/incidents", texts.title]}
      under={
        <>
          <span>{texts.kinds[kind]}</span>
          {source === "rule" && <span>{texts.byRule}</span>}
          <ShownOn incident={incident} />
        </>
      }
      actions={<Actions incident={incident} />}
    >
      <IncidentFacts incident={incident} />
      <Affected incident={incident} />
      {responds && state !== "discarded" && <UpdateForm key={posted} incident={incident} done={() => setPosted(posted + 1)} />}
      <PostmortemPanel incident={incident} responds={responds} />
      <Panel title={texts.updates}>
        <ol className={styles.updates} reversed>
          {updates.map((update) => (
            <Update
              key={update.updateid}
              incident={incident}
              update={update}
              deliveries={deliveries.get(update.updateid)}
              changeable={responds}
            />
          ))}
        </ol>
      </Panel>
    </DetailLayout>
  );
}

/** The pages that show it. */
function ShownOn({ incident: { shown_on } }: { incident: Incident }) {
  const { data = [] } = useQuery(statuspagesQuery);
  return data
    .filter(({ pageid }) => shown_on.includes(pageid))
    .map(({ pageid, name }) => (
      <Link key={pageid} to={`/statuspage/${pageid}`}>
        {name}
      </Link>
    ));
}

/** Publishing and discarding a draft, and deleting it. */
function Actions({ incident }: { incident: Incident }) {
  const { incidentid, title, state } = incident;
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [busy, run] = useRun();
  const [deleting, setDeleting] = useState(false);
  const [editing, setEditing] = useState(false);
  const responds = useMayChangePages("respond");
  const edits = useMayChangePages("edit");
  const isDraft = state === "draft";
  const remove = isDraft ? texts.discard : t.monitors.delete;
  return (
    <>
      {isDraft && responds && (
        <Button
          leftSection={<Check />}
          loading={busy}
          onClick={() =>
            run(async () => {
              await publishIncident(client, incidentid);
              showToast(texts.hasPublished(title));
            })
          }
        >
          {texts.publish}
        </Button>
      )}
      {responds && state !== "discarded" && (
        <Button variant="default" leftSection={<Pencil />} onClick={() => setEditing(true)}>
          {t.maintenance.edit}
        </Button>
      )}
      {editing && <DetailsDialog incident={incident} close={() => setEditing(false)} />}
      {edits && (
        <Button variant="default" leftSection={<Trash />} onClick={() => setDeleting(true)}>
          {remove}
        </Button>
      )}
      {deleting && (
        <Confirm
          title={isDraft ? texts.discardTitle(title) : t.detail.deleteTitle(title)}
          action={remove}
          close={() => setDeleting(false)}
          run={async () => {
            await deleteIncident(client, incidentid);
            showToast(isDraft ? texts.discarded : t.detail.deleted(title));
            await navigate("/incidents", { replace: true });
          }}
        >
          {isDraft ? texts.discardHelp : texts.deleteHelp}
        </Confirm>
      )}
    </>
  );
}

function IncidentFacts({ incident }: { incident: Incident }) {
  const { incidents: texts, maintenance } = useTexts();
  const { kind, impact, started, resolved, scheduled_for, scheduled_until, repeat } = incident;
  // The names are those of the form; another rule is shown as it is.
  const { repeat: named, rrule } = repeatValues(repeat);
  return (
    <Facts>
      <Fact label={texts.impact}>{texts.impacts[impact]}</Fact>
      <Fact label={texts.started}>
        <Moment at={(kind === "maintenance" && scheduled_for) || started} />
      </Fact>
      {kind === "maintenance" && scheduled_until && (
        <Fact label={texts.until}>
          <Moment at={scheduled_until} />
        </Fact>
      )}
      {repeat !== "" && <Fact label={maintenance.form.repeat}>{named === "custom" ? rrule : texts.repeats[named]}</Fact>}
      {resolved && isOver(incident.status) && (
        <Fact label={texts.ended}>
          <Moment at={resolved} />
        </Fact>
      )}
    </Facts>
  );
}

function Affected({ incident: { components } }: { incident: Incident }) {
  const { incidents: texts } = useTexts();
  if (components.length === 0) return null;
  return (
    <Panel title={texts.affected}>
      <ul className={styles.affected}>
        {components.map(({ componentid, name, status }) => (
          <li key={componentid}>
            <span>{name}</span>
            <ComponentBadge status={status} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface UpdateProps {
  incident: Incident;
  update: IncidentUpdate;
  deliveries: UpdateDeliveries | undefined;
  changeable: boolean;
}

function Update({ incident: { incidentid, updates }, update, deliveries, changeable }: UpdateProps) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const [asking, ask] = useState<"edit" | "delete" | null>(null);
  const close = () => ask(null);
  const { updateid, status, body, display_at, edited } = update;
  return (
    <li>
      <p className={styles.updateHead}>
        <b>{texts.statuses[status]}</b>
        <span className={styles.quiet}>
          <Moment at={display_at} />
          {edited && ` · ${texts.edited}`}
        </span>
      </p>
      <RenderedText text={body} />
      <Deliveries incidentid={incidentid} of={deliveries} changeable={changeable} />
      {changeable && (
        <p className={styles.updateActions}>
          <Button variant="subtle" size="xs" onClick={() => ask("edit")}>
            {t.maintenance.edit}
          </Button>
          {updates.length > 1 && (
            <Button variant="subtle" color="red" size="xs" onClick={() => ask("delete")}>
              {t.monitors.delete}
            </Button>
          )}
        </p>
      )}
      {asking === "edit" && <EditDialog incidentid={incidentid} update={update} close={close} />}
      {asking === "delete" && (
        <Confirm
          title={texts.deleteUpdateTitle}
          action={t.monitors.delete}
          close={close}
          run={async () => {
            await deleteUpdate(client, incidentid, updateid);
            showToast(texts.updateDeleted);
          }}
        >
          {texts.deleteUpdateHelp}
        </Confirm>
      )}
    </li>
  );
}

function EditDialog({ incidentid, update: { updateid, body }, close }: { incidentid: string; update: IncidentUpdate; close: () => void }) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const form = useForm(
    { body },
    async (values) => {
      await saveUpdate(client, incidentid, { updateid, body: values.body });
      showToast(texts.updateSaved);
      close();
    },
    (values) => ({ body: values.body.trim() === "" ? t.maintenance.form.required : undefined }),
  );
  return (
    <Dialog title={texts.editUpdate} close={close} size="lg">
      <FormLayout form={form} action={t.common.save} cancel={close}>
        <BodyField value={form.values.body} error={form.errors.body} change={(next) => form.set("body", next)} help={texts.editHelp} />
      </FormLayout>
    </Dialog>
  );
}
