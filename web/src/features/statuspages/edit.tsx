/** Creates or edits a status page: its layout, appearance and access beside a preview. */
import { Button, Switch, Textarea, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { isNotFound } from "../../shared/api/error";
import { monitorsQuery } from "../../shared/api/monitors";
import { useMe } from "../../shared/api/session";
import { saveStatuspage, statuspageQuery, type Statuspage } from "../../shared/api/statuspages";
import { useLanguage, useTexts } from "../../shared/i18n";
import { readerZone } from "../../shared/lib/zone";
import { useNavigate } from "../../shared/router";
import { ErrorNotice, FormError } from "../../shared/ui/error-notice";
import { flag, text, useForm, type Form } from "../../shared/ui/form";
import { RequiredField } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Loading } from "../../shared/ui/loading";
import { NotFound } from "../../shared/ui/not-found";
import { Page, Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import { showToast } from "../../shared/ui/toast";
import { UnsavedChangesGuard } from "../../shared/ui/unsaved-changes";
import { AccessFields } from "./access-fields";
import { AppearanceFields, DisplayFields } from "./appearance-fields";
import { Domains } from "./domains";
import { Embedding } from "./embedding";
import { Images } from "./images";
import { useMayChangePages } from "./labels";
import { LayoutFields } from "./layout-fields";
import { Preview, usePreview } from "./preview";
import { Rules } from "./rules";
import styles from "./statuspages.module.css";
import { SubscribeFields, Subscribers } from "./subscribers/panel";
import { TranslationFields } from "./translations";
import { bodyOf, changesOf, check, fieldName, hostNames, proposal, valuesOf, type Values } from "./values";

export type PageForm = Form<Values>;

export function StatuspageEditor({ id }: { id: string | undefined }) {
  return id === undefined ? <NewPage /> : <StoredPage id={id} />;
}

function NewPage() {
  const { statuspages: texts } = useTexts();
  const { language } = useLanguage();
  const { groupname } = useMe();
  const { data, error, refetch } = useQuery(monitorsQuery);
  if (!data) {
    return <Page title={texts.newTitle}>{error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</Page>;
  }
  return <Editor key="new" start={() => proposal(groupname, readerZone(), language, data)} />;
}

function StoredPage({ id }: { id: string }) {
  const { statuspages: texts } = useTexts();
  const { data, error, isPending, refetch } = useQuery(statuspageQuery(id));
  if (isPending || (!data && !isNotFound(error))) {
    return <Page title={texts.title}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (!data || isNotFound(error)) return <NotFound instead={["/statuspages", texts.title]} />;
  return <Editor key={id} stored={data} start={() => valuesOf(data)} />;
}

const parts = ["layout", "appearance", "access", "subscribers", "rules", "embedding", "preview"] as const;
type Part = (typeof parts)[number];

/** Narrower windows have no room for the preview beside the form. */
const NARROW = "(max-width: 899px)";

/** The part of the form that has a field. */
function partOf(field: string): Part {
  if (/^(appearance|display|language|timezone|footer|texts|shown_after)/.test(field)) return "appearance";
  if (/^(access|password|allowed_networks|indexed|slug|domains)/.test(field)) return "access";
  if (field.startsWith("subscribe")) return "subscribers";
  if (field.startsWith("rules")) return "rules";
  return field === "embed_origins" ? "embedding" : "layout";
}

function Editor({ stored, start: makeStart }: { stored?: Statuspage; start: () => Values }) {
  const t = useTexts();
  const { statuspages: texts } = t;
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const edits = useMayChangePages("edit");
  // A change by someone else does not replace what is being edited.
  const [base] = useState(stored);
  const [start] = useState(makeStart);
  const form = useForm(
    start,
    async (values) => {
      const saved = await saveStatuspage(client, base ? changesOf(base, values) : bodyOf(values));
      leaving.current = true;
      showToast(base ? t.form.saved(saved.name) : t.maintenance.created(saved.name));
      await navigate("/statuspages", { replace: true });
    },
    (values) => check(values, t, base?.has_password),
  );
  const { errors } = form;
  const [chosen, choose] = useState<{ part: Part; errors: typeof errors }>({ part: "layout", errors });
  const wrong = Object.keys(errors)
    .filter((field) => errors[field] !== undefined)
    .map(partOf);
  // New errors in another part are shown there, until the user chooses one.
  const shown = chosen.errors === errors || wrong[0] === undefined || wrong.includes(chosen.part) ? chosen.part : wrong[0];
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const part = shown === "preview" && !isNarrow ? "layout" : shown;
  // Badges are those of a stored page; the preview is for those who edit.
  const isOffered = (each: Part) => (each === "embedding" ? base !== undefined : each !== "preview" || (isNarrow && edits));
  const preview = usePreview(form.values, base?.pageid, edits);
  const warnings = Object.fromEntries((preview.data?.warnings ?? []).map(({ field, message }) => [fieldName(field), message]));
  const hosts = hostNames(preview.data?.warnings ?? []);
  return (
    <Page
      title={base ? t.form.editTitle(base.name) : texts.newTitle}
      actions={
        base?.published && (
          <Button variant="default" component="a" href={base.url} target="_blank" rel="noopener">
            {texts.view}
          </Button>
        )
      }
    >
      <form className={`${page.form} ${styles.editor}`} onSubmit={form.submit} noValidate>
        <div className={page.sections}>
          <Panel>
            <div className={page.fields}>
              <RequiredField form={form} field="name" label={t.form.name} maxLength={255} autoComplete="off" />
              <Switch
                {...flag(form, "published")}
                label={texts.publishedField}
                description={
                  form.values.published
                    ? hosts > 0 && <span className={styles.warning}>{texts.hostNames(hosts)}</span>
                    : texts.publishedHelp
                }
              />
            </div>
          </Panel>
          <div className={styles.parts}>
            <SegmentedControl
              label={texts.parts}
              choices={parts.filter(isOffered).map((each) => [each, texts.partNames[each]] as const)}
              chosen={part}
              choose={(next) => choose({ part: next, errors })}
            />
          </div>
          {part === "layout" && (
            <>
              <LayoutFields form={form} warnings={warnings} />
              <Panel title={texts.about}>
                <Textarea
                  {...text(form, "description")}
                  label={texts.description}
                  description={texts.markdown}
                  rows={2}
                  autosize
                  maxRows={8}
                  maxLength={2000}
                />
              </Panel>
            </>
          )}
          {part === "appearance" && (
            <>
              <AppearanceFields form={form} warnings={warnings} />
              <DisplayFields form={form} />
              {stored ? <Images page={stored} edits={edits} /> : <Panel title={texts.images.title} lead={texts.images.later} />}
              <TranslationFields form={form} />
            </>
          )}
          {part === "access" && (
            <>
              <Panel title={texts.address}>
                <TextInput
                  {...text(form, "slug")}
                  label={texts.slug}
                  description={texts.slugHelp}
                  maxLength={63}
                  autoComplete="off"
                  spellCheck={false}
                />
              </Panel>
              <Domains form={form} stored={stored} edits={edits} />
              <AccessFields form={form} stored={stored} />
            </>
          )}
          {part === "subscribers" && (
            <>
              {stored && edits && <Subscribers page={stored} />}
              <SubscribeFields form={form} />
            </>
          )}
          {part === "rules" && <Rules form={form} edits={edits} />}
          {part === "embedding" && stored && <Embedding page={stored} form={form} />}
        </div>
        {(!isNarrow || part === "preview") && (
          <aside className={`${page.beside} ${styles.beside}`}>
            <Preview preview={preview} languages={[form.values.language, ...form.values.languages]} enabled={edits} />
          </aside>
        )}
        {edits && (
          <div className={page.foot}>
            <FormError text={form.fault} />
            <div className={page.buttons}>
              <Button variant="default" onClick={() => void navigate(-1)}>
                {t.common.cancel}
              </Button>
              <Button type="submit" loading={form.busy}>
                {base ? t.common.save : texts.create}
              </Button>
            </div>
          </div>
        )}
      </form>
      <UnsavedChangesGuard when={() => edits && form.dirty && !leaving.current} />
    </Page>
  );
}
