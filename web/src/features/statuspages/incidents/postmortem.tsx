/** The postmortem of an incident: what happened, and what was learned. */
import { Button, Switch } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { savePostmortem, type Incident } from "../../../shared/api/incidents";
import { useTexts } from "../../../shared/i18n";
import { Badge } from "../../../shared/ui/badge";
import { Confirm } from "../../../shared/ui/confirm";
import { FormError } from "../../../shared/ui/error-notice";
import { flag, useForm } from "../../../shared/ui/form";
import page from "../../../shared/ui/form-page.module.css";
import { Panel } from "../../../shared/ui/page";
import { showToast } from "../../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { RenderedText } from "../rendered-text";
import { BodyField } from "./body-field";
import styles from "./incidents.module.css";
import { isOver } from "./values";

const MAX_BODY = 50_000;

/** Offered once an incident is over; one that exists is always shown. */
export function PostmortemPanel({ incident, responds }: { incident: Incident; responds: boolean }) {
  const t = useTexts();
  const { postmortem: texts } = t.incidents;
  const { postmortem, status, state } = incident;
  const [writing, setWriting] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const client = useQueryClient();
  const mayWrite = responds && state === "published";
  if (!postmortem && !(mayWrite && isOver(status))) return null;
  return (
    <Panel
      title={texts.title}
      lead={postmortem || writing ? undefined : texts.lead}
      actions={
        postmortem && <Badge tone={postmortem.published ? "up" : "wait"}>{postmortem.published ? texts.isPublished : texts.isDraft}</Badge>
      }
    >
      {writing ? (
        <Editor incident={incident} close={() => setWriting(false)} />
      ) : (
        <>
          {postmortem && <RenderedText text={postmortem.body} />}
          {mayWrite && (
            <p className={styles.updateActions}>
              <Button variant={postmortem ? "subtle" : "default"} size="xs" onClick={() => setWriting(true)}>
                {postmortem ? texts.edit : texts.write}
              </Button>
              {postmortem && (
                <Button variant="subtle" color="red" size="xs" onClick={() => setDeleting(true)}>
                  {texts.delete}
                </Button>
              )}
            </p>
          )}
        </>
      )}
      {deleting && (
        <Confirm
          title={texts.deleteTitle}
          action={t.monitors.delete}
          close={() => setDeleting(false)}
          run={async () => {
            await savePostmortem(client, incident.incidentid, { body: "" });
            showToast(texts.deleted);
          }}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function Editor({ incident: { incidentid, postmortem }, close }: { incident: Incident; close: () => void }) {
  const t = useTexts();
  const { postmortem: texts } = t.incidents;
  const client = useQueryClient();
  const form = useForm(
    { body: postmortem?.body ?? "", published: postmortem?.published ?? false, notify: false },
    async ({ body, published, notify }) => {
      await savePostmortem(client, incidentid, { body, published, notify: published && notify });
      showToast(published ? texts.published : texts.saved);
      close();
    },
    ({ body }) => ({ body: body.trim() === "" ? t.maintenance.form.required : undefined }),
  );
  return (
    <form className={page.fields} onSubmit={form.submit} noValidate>
      <BodyField
        value={form.values.body}
        error={form.errors.body}
        change={(body) => form.set("body", body)}
        help={texts.bodyHelp}
        maxLength={MAX_BODY}
        rows={10}
      />
      <Switch {...flag(form, "published")} label={texts.publishedField} description={texts.publishedHelp} />
      {form.values.published && <Switch {...flag(form, "notify")} label={t.incidents.notify} />}
      <FormError text={form.fault} />
      <div className={page.buttons}>
        <Button variant="default" onClick={close}>
          {t.common.cancel}
        </Button>
        <Button type="submit" loading={form.busy}>
          {t.common.save}
        </Button>
      </div>
      <UnsavedChangesGuard when={() => form.dirty && !form.busy} />
    </form>
  );
}
