/** Writes a new incident or plans maintenance, on one screen. */
import { Button, MultiSelect, Select, Switch, Textarea } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { find, type IncidentKind } from "../../../shared/api/closed-sets";
import { incidentTemplatesQuery, saveIncident } from "../../../shared/api/incidents";
import { statuspagesQuery, type Statuspage } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import { useModifiedKey } from "../../../shared/lib/keys";
import { Link, useNavigate, useSearchParams } from "../../../shared/router";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice, FormError } from "../../../shared/ui/error-notice";
import { flag, text, useForm } from "../../../shared/ui/form";
import { RequiredField } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { Plus } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { useMayChangePages } from "../labels";
import { impacts } from "../rules";
import { incidentSteps } from "../statuses";
import { otherLanguages, TextTranslations } from "./body-field";
import { ComponentFields, componentsWith, usePages } from "./component-fields";
import { IncidentPreview } from "./incident-preview";
import styles from "./incidents.module.css";
import { pagesOf, Recipients } from "./recipients";
import { ScheduleFields } from "./schedule-fields";
import { bodyOf, check, fromTemplate, initial, type Values } from "./values";

export function IncidentEditor() {
  const { incidents: texts, statuspages } = useTexts();
  const may = useMayChangePages("edit");
  const [search] = useSearchParams();
  const kind = search.get("kind") === "maintenance" ? "maintenance" : "incident";
  const title = texts.newTitle[kind];
  const { error, data, refetch } = useQuery(statuspagesQuery);
  const pages = usePages();
  if (!pages) {
    return <Page title={title}>{error && !data ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</Page>;
  }
  if (pages.length === 0) {
    return (
      <Page title={title}>
        <Panel>
          <EmptyState title={texts.noPages}>
            {may && (
              <Button component={Link} to="/statuspage/new" leftSection={<Plus />}>
                {statuspages.new}
              </Button>
            )}
          </EmptyState>
        </Panel>
      </Page>
    );
  }
  return <Editor key={kind} kind={kind} pages={pages} monitor={search.get("monitor")} template={search.get("template")} />;
}

interface EditorProps {
  kind: IncidentKind;
  pages: Statuspage[];
  /** The ids of a monitor whose components are affected, and of a template to begin with. */
  monitor: string | null;
  template: string | null;
}

function Editor({ kind, pages, monitor, template }: EditorProps) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const draft = useRef(false);
  const element = useRef<HTMLFormElement>(null);
  const { data: templates = [] } = useQuery(incidentTemplatesQuery);
  const [start] = useState((): Values => {
    const components = monitor === null ? [] : componentsWith(pages, monitor);
    const [only, ...others] = pages;
    // With a single page there is nothing to choose.
    const pageids = components.length === 0 && only && others.length === 0 ? [only.pageid] : [];
    return initial(kind, components, pageids, Date.now(), only?.timezone);
  });
  const form = useForm(
    start,
    async (values) => {
      const saved = await saveIncident(client, bodyOf(values, draft.current ? "draft" : "published"));
      leaving.current = true;
      showToast(draft.current ? texts.draftSaved : texts.hasPublished(saved.title));
      await navigate(`/incident/${saved.incidentid}`, { replace: true });
    },
    (values) => check(values, t),
  );
  const submitAs = (asDraft: boolean) => {
    draft.current = asDraft;
    element.current?.requestSubmit();
  };
  useModifiedKey("enter", () => submitAs(false));
  const { values, errors } = form;
  const offered = templates.filter((one) => one.kind === kind);
  const applyTemplate = (id: string | null) => {
    const part = fromTemplate(
      values,
      offered.find(({ templateid }) => templateid === id),
    );
    for (const [field, value] of Object.entries(part)) form.set(field as keyof Values, value);
  };
  // The template of the address is applied once it is loaded.
  const [pending, setPending] = useState(template);
  if (pending !== null && offered.some(({ templateid }) => templateid === pending)) {
    setPending(null);
    applyTemplate(pending);
  }
  return (
    <Page title={texts.newTitle[kind]}>
      <form ref={element} className={page.form} onSubmit={form.submit} noValidate>
        <div className={page.sections}>
          <Panel>
            <div className={page.fields}>
              {offered.length > 0 && (
                <Select
                  label={texts.template}
                  description={texts.templateHelp}
                  data={offered.map(({ templateid, name }) => ({ value: templateid, label: name }))}
                  searchable
                  clearable
                  value={values.templateid}
                  onChange={applyTemplate}
                />
              )}
              <RequiredField form={form} field="title" label={texts.titleField} maxLength={255} autoComplete="off" />
              {kind === "maintenance" ? (
                <ScheduleFields form={form} />
              ) : (
                <SegmentedControl
                  label={texts.status}
                  choices={incidentSteps[kind].map((step) => [step, texts.statuses[step]] as const)}
                  chosen={values.status}
                  choose={(step) => form.set("status", step)}
                />
              )}
              <Textarea
                {...text(form, "body")}
                label={texts.body}
                description={texts.bodyHelp}
                rows={4}
                autosize
                maxRows={16}
                maxLength={10_000}
              />
              <TextTranslations
                languages={otherLanguages(
                  pages,
                  values.pageids,
                  values.components.map(({ componentid }) => componentid),
                )}
                fields={[
                  { field: "title", label: texts.titleField, texts: values.texts, change: (next) => form.set("texts", next) },
                  { field: "body", label: texts.body, texts: values.update_texts, change: (next) => form.set("update_texts", next) },
                ]}
              />
            </div>
          </Panel>
          <Panel title={texts.affected}>
            <div className={page.fields}>
              <ComponentFields
                kind={kind}
                pages={pages}
                value={values.components}
                error={errors.components}
                change={(components) => form.set("components", components)}
              />
              <MultiSelect
                name="pageids"
                label={texts.pages}
                description={texts.pagesHelp}
                data={pages.map(({ pageid, name }) => ({ value: pageid, label: name }))}
                searchable
                hidePickedOptions
                value={values.pageids}
                error={errors.pageids}
                onChange={(value) => {
                  form.set("pageids", value);
                  // Its error is that nothing is affected.
                  form.set("components", values.components);
                }}
              />
              {kind === "incident" && (
                <Select
                  name="impact_override"
                  className={styles.short}
                  label={texts.impact}
                  description={texts.impactHelp}
                  data={[{ value: "", label: t.form.auto }, ...impacts.map((value) => ({ value, label: texts.impacts[value] }))]}
                  allowDeselect={false}
                  value={values.impact_override}
                  error={errors.impact_override}
                  onChange={(value) => form.set("impact_override", find(impacts, value) ?? "")}
                />
              )}
              <div>
                <Switch {...flag(form, "notify")} label={texts.notify} />
                {values.notify && <Recipients pageids={pagesOf(pages, values.pageids, values.components)} />}
              </div>
            </div>
          </Panel>
        </div>
        <aside className={page.beside}>
          <IncidentPreview values={values} pages={pages} />
        </aside>
        <div className={page.foot}>
          <FormError text={form.fault} />
          <div className={page.buttons}>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button variant="default" loading={form.busy} onClick={() => submitAs(true)}>
              {texts.saveDraft}
            </Button>
            <Button loading={form.busy} onClick={() => submitAs(false)} aria-keyshortcuts="Control+Enter Meta+Enter">
              {texts.publish}
            </Button>
          </div>
          <p className={styles.hint}>{texts.keyHint}</p>
        </div>
      </form>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}
