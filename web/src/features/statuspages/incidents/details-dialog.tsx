/** Changes the title, the impact or the times of an incident; what happened goes into updates. */
import { Select } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { find } from "../../../shared/api/closed-sets";
import { saveIncident, type Incident } from "../../../shared/api/incidents";
import { useTexts } from "../../../shared/i18n";
import { Dialog } from "../../../shared/ui/dialog";
import { useForm } from "../../../shared/ui/form";
import { FormLayout, RequiredField } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import { impacts } from "../rules";
import { otherLanguages, TextTranslations } from "./body-field";
import { usePages } from "./component-fields";
import { ScheduleFields } from "./schedule-fields";
import { checkDetails, detailChanges, detailValues } from "./values";

export function DetailsDialog({ incident, close }: { incident: Incident; close: () => void }) {
  const t = useTexts();
  const { incidents: texts } = t;
  const client = useQueryClient();
  const pages = usePages() ?? [];
  const form = useForm(
    detailValues(incident),
    async (values) => {
      const saved = await saveIncident(client, detailChanges(incident, values));
      showToast(t.form.saved(saved.title));
      close();
    },
    (values) => checkDetails(incident.kind, values, t),
  );
  const { values } = form;
  return (
    <Dialog title={t.form.editTitle(incident.title)} close={close} size="lg" closeOnClickOutside={false}>
      <FormLayout form={form} action={t.common.save} cancel={close}>
        <RequiredField form={form} field="title" label={texts.titleField} maxLength={255} autoComplete="off" data-autofocus />
        <TextTranslations
          languages={otherLanguages(pages, incident.shown_on, [])}
          fields={[{ field: "title", label: texts.titleField, texts: values.texts, change: (next) => form.set("texts", next) }]}
        />
        {incident.kind === "maintenance" ? (
          <ScheduleFields form={form} />
        ) : (
          <Select
            name="impact_override"
            label={texts.impact}
            description={texts.impactHelp}
            data={[{ value: "", label: t.form.auto }, ...impacts.map((value) => ({ value, label: texts.impacts[value] }))]}
            allowDeselect={false}
            value={values.impact_override}
            error={form.errors.impact_override}
            onChange={(value) => form.set("impact_override", find(impacts, value) ?? "")}
          />
        )}
      </FormLayout>
    </Dialog>
  );
}
