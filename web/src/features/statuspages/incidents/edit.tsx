/** Writes a new incident or plans maintenance, on one screen. */
import { Button, MultiSelect, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { IncidentKind } from "../../../shared/api/closed-sets";
import { incidentTemplatesQuery, saveIncident } from "../../../shared/api/incidents";
import { statuspagesQuery, type Statuspage } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import { useModifiedKey } from "../../../shared/lib/keys";
import { useNavigate, useSearchParams } from "../../../shared/router";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice, FormError } from "../../../shared/ui/error-notice";
import { flag, text, useForm } from "../../../shared/ui/form";
import { FieldPair, RequiredField } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { incidentSteps } from "../statuses";
import { ComponentFields, componentsWith, usePages } from "./component-fields";
import styles from "./incidents.module.css";
import { bodyOf, check, fromTemplate, initial, type Values } from "./values";

export function IncidentEditor() {
  const { incidents: texts } = useTexts();
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
          <EmptyState title={texts.noPages} />
        </Panel>
      </Page>
    );
  }
  return <Editor key={kind} kind={kind} pages={pages} monitor={search.get("monitor")} />;
}

function Editor({ kind, pages, monitor }: { kind: IncidentKind; pages: Statuspage[]; monitor: string | null }) {
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
    return initial(kind, components, pageids, Date.now());
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
  const useTemplate = (id: string | null) => {
    const part = fromTemplate(
      values,
      offered.find(({ templateid }) => templateid === id),
    );
    for (const [field, value] of Object.entries(part)) form.set(field as keyof Values, value);
  };
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
                  onChange={useTemplate}
                />
              )}
              <RequiredField form={form} field="title" label={texts.titleField} maxLength={255} autoComplete="off" />
              {kind === "maintenance" ? (
                <FieldPair wide>
                  <TextInput type="datetime-local" {...text(form, "scheduled_for")} label={texts.starts} description={texts.yourZone} />
                  <TextInput type="datetime-local" {...text(form, "scheduled_until")} label={texts.ends} description={texts.yourZone} />
                </FieldPair>
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
              <Switch {...flag(form, "notify")} label={texts.notify} />
            </div>
          </Panel>
        </div>
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
