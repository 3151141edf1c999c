/** Templates of incidents: texts that are filled in when something happens, by people and by rules. */
import { Button, Menu, MultiSelect, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { find, type IncidentKind } from "../../../shared/api/closed-sets";
import { deleteTemplate, incidentTemplatesQuery, saveTemplate, type IncidentTemplate } from "../../../shared/api/incidents";
import { useTexts } from "../../../shared/i18n";
import { Link } from "../../../shared/router";
import { Badge } from "../../../shared/ui/badge";
import { Confirm } from "../../../shared/ui/confirm";
import { Dialog } from "../../../shared/ui/dialog";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { text, useForm } from "../../../shared/ui/form";
import { FieldPair, FormLayout, RequiredField } from "../../../shared/ui/form-layout";
import { Copy, Pencil, Plus, Trash } from "../../../shared/ui/icons";
import { ListRow } from "../../../shared/ui/list-row";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import { showToast } from "../../../shared/ui/toast";
import { useMayChangePages } from "../labels";
import { impacts } from "../rules";
import { incidentSteps } from "../statuses";
import { StatuspageTabs } from "../tabs";
import { componentNames, usePages } from "./component-fields";
import styles from "./incidents.module.css";
import { checkTemplate, firstStep, initialTemplate, templateBody, templateValues } from "./template-values";

export function TemplateList() {
  const t = useTexts();
  const { templates: texts } = t.incidents;
  const { data, error, isPending, refetch } = useQuery(incidentTemplatesQuery);
  const edits = useMayChangePages("edit");
  const [editing, setEditing] = useState<IncidentTemplate | "new" | null>(null);
  const isEmpty = data?.length === 0;
  const make = edits && (
    <Button leftSection={<Plus />} onClick={() => setEditing("new")}>
      {texts.new}
    </Button>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={data && !isEmpty ? make : undefined}>
      <StatuspageTabs current="/incidenttemplates" />
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && (
        <Panel>
          {isEmpty ? (
            <EmptyState title={texts.none}>
              <p className={styles.emptyWords}>{texts.noneHelp}</p>
              {make}
            </EmptyState>
          ) : (
            <ul aria-label={texts.title}>
              {data.map((template) => (
                <Row key={template.templateid} template={template} edits={edits} edit={() => setEditing(template)} />
              ))}
            </ul>
          )}
        </Panel>
      )}
      {editing !== null && <TemplateDialog template={editing === "new" ? undefined : editing} close={() => setEditing(null)} />}
    </Page>
  );
}

function Row({ template, edits, edit }: { template: IncidentTemplate; edits: boolean; edit: () => void }) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const responds = useMayChangePages("respond");
  const [deleting, setDeleting] = useState(false);
  const { templateid, name, title, kind } = template;
  return (
    <>
      <ListRow
        name={name}
        face={<Copy />}
        badges={<Badge tone={kind === "maintenance" ? "accent" : "rest"}>{texts.kinds[kind]}</Badge>}
        menu={
          responds && (
            <>
              <Menu.Item
                leftSection={<Plus />}
                component={Link}
                to={`/incident/new?${kind === "maintenance" ? "kind=maintenance&" : ""}template=${templateid}`}
              >
                {texts.templates.use}
              </Menu.Item>
              {edits && (
                <Menu.Item leftSection={<Pencil />} onClick={edit}>
                  {t.maintenance.edit}
                </Menu.Item>
              )}
              {edits && (
                <Menu.Item leftSection={<Trash />} color="red" onClick={() => setDeleting(true)}>
                  {t.monitors.delete}
                </Menu.Item>
              )}
            </>
          )
        }
      >
        {title}
      </ListRow>
      {deleting && (
        <Confirm
          title={t.detail.deleteTitle(name)}
          action={t.monitors.delete}
          close={() => setDeleting(false)}
          run={async () => {
            await deleteTemplate(client, templateid);
            showToast(t.detail.deleted(name));
          }}
        >
          {texts.templates.deleteHelp}
        </Confirm>
      )}
    </>
  );
}

const kinds = ["incident", "maintenance"] as const satisfies readonly IncidentKind[];

function TemplateDialog({ template, close }: { template: IncidentTemplate | undefined; close: () => void }) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const pages = usePages() ?? [];
  const form = useForm(
    template ? templateValues(template) : initialTemplate(),
    async (values) => {
      const saved = await saveTemplate(client, templateBody(values, template?.templateid));
      showToast(template ? t.form.saved(saved.name) : t.maintenance.created(saved.name));
      close();
    },
    (values) => checkTemplate(values, t),
  );
  const { values, errors } = form;
  const steps = incidentSteps[values.kind];
  const names = componentNames(pages);
  const options = [...new Map([...values.components.map((id) => [id, id] as const), ...names])].map(([value, label]) => ({ value, label }));
  return (
    <Dialog title={template ? t.form.editTitle(template.name) : texts.templates.new} close={close} size="lg" closeOnClickOutside={false}>
      <FormLayout form={form} action={template ? t.common.save : texts.templates.create} cancel={close}>
        <RequiredField form={form} field="name" label={t.form.name} maxLength={255} autoComplete="off" data-autofocus />
        <FieldPair>
          <Select
            name="kind"
            label={texts.templates.kind}
            data={kinds.map((value) => ({ value, label: texts.kinds[value] }))}
            allowDeselect={false}
            value={values.kind}
            error={errors.kind}
            onChange={(value) => {
              const kind = find(kinds, value) ?? values.kind;
              form.set("kind", kind);
              form.set("status", firstStep(kind));
            }}
          />
          <Select
            name="status"
            label={texts.status}
            data={steps.map((value) => ({ value, label: texts.statuses[value] }))}
            allowDeselect={false}
            value={values.status}
            error={errors.status}
            onChange={(value) => form.set("status", find(steps, value) ?? values.status)}
          />
        </FieldPair>
        <TextInput {...text(form, "title")} label={texts.titleField} maxLength={255} autoComplete="off" />
        <Textarea
          {...text(form, "body")}
          label={texts.body}
          description={texts.templates.bodyHelp}
          rows={5}
          autosize
          maxRows={16}
          maxLength={10_000}
        />
        <MultiSelect
          name="components"
          label={texts.components}
          data={options}
          searchable
          hidePickedOptions
          value={values.components}
          error={errors.components}
          onChange={(ids) => form.set("components", ids)}
        />
        {values.kind === "incident" && (
          <Select
            name="impact"
            label={texts.impact}
            description={texts.impactHelp}
            data={[{ value: "", label: t.form.auto }, ...impacts.map((value) => ({ value, label: texts.impacts[value] }))]}
            allowDeselect={false}
            value={values.impact}
            error={errors.impact}
            onChange={(value) => form.set("impact", find(impacts, value) ?? "")}
          />
        )}
      </FormLayout>
    </Dialog>
  );
}
