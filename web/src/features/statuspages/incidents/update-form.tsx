/** Posts an update: the status as four steps, the components with their statuses, the text, and a preview of the page. */
import { Button, Switch } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { saveUpdate, type Incident } from "../../../shared/api/incidents";
import { useTexts } from "../../../shared/i18n";
import { useModifiedKey } from "../../../shared/lib/keys";
import { FormError } from "../../../shared/ui/error-notice";
import { flag, useForm } from "../../../shared/ui/form";
import page from "../../../shared/ui/form-page.module.css";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { useMayChangePages } from "../labels";
import { BodyField, otherLanguages, TextTranslations } from "./body-field";
import { ComponentFields, usePages } from "./component-fields";
import styles from "./incidents.module.css";
import { Recipients } from "./recipients";
import { UpdatePreview } from "./update-preview";
import { isOver, nextSteps, updateBody, updateValues } from "./values";

export function UpdateForm({ incident, done }: { incident: Incident; done: () => void }) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const pages = usePages();
  const edits = useMayChangePages("edit");
  const element = useRef<HTMLFormElement>(null);
  const form = useForm(
    updateValues(incident),
    async (values) => {
      await saveUpdate(client, incident.incidentid, updateBody(incident, values));
      showToast(texts.posted);
      done();
    },
    ({ body }) => ({ body: body.trim() === "" ? t.maintenance.form.required : undefined }),
  );
  useModifiedKey("enter", () => {
    // Not while an older update is being edited.
    if (!document.querySelector("[role=dialog]")) element.current?.requestSubmit();
  });
  const { values, errors } = form;
  return (
    <div className={styles.writing}>
      <Panel title={texts.write}>
        <form ref={element} className={page.fields} onSubmit={form.submit} noValidate>
          <SegmentedControl
            label={texts.status}
            choices={nextSteps(incident).map((step) => [step, texts.statuses[step]] as const)}
            chosen={values.status}
            choose={(step) => form.set("status", step)}
          />
          {isOver(values.status) ? (
            <p className={styles.quiet}>{texts.endsHelp[incident.kind]}</p>
          ) : pages ? (
            <ComponentFields
              kind={incident.kind}
              pages={pages}
              known={incident.components}
              value={values.components}
              error={errors.components}
              change={(components) => form.set("components", components)}
            />
          ) : (
            <Loading />
          )}
          <BodyField value={values.body} error={errors.body} change={(body) => form.set("body", body)} rows={3} />
          <TextTranslations
            languages={otherLanguages(pages ?? [], incident.shown_on, [])}
            fields={[{ field: "body", label: texts.body, texts: values.texts, change: (next) => form.set("texts", next) }]}
          />
          {incident.state === "published" && (
            <div>
              <Switch {...flag(form, "notify")} label={texts.notify} />
              {values.notify && <Recipients pageids={incident.shown_on} />}
            </div>
          )}
          <FormError text={form.fault} />
          <div className={page.buttons}>
            <Button type="submit" loading={form.busy} aria-keyshortcuts="Control+Enter Meta+Enter">
              {texts.post}
            </Button>
          </div>
        </form>
        <UnsavedChangesGuard when={() => values.body.trim() !== ""} />
      </Panel>
      {edits && form.dirty && pages && <UpdatePreview incident={incident} values={values} pages={pages} />}
    </div>
  );
}
