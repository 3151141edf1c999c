/** Edits the settings that monitors of all types share; before it saves, it says how many will change. */
import { Button, MultiSelect, NativeSelect, NumberInput, TagsInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { notifiersQuery, receiverOf, type Notifier } from "../../../shared/api/notifiers";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { interval } from "../../../shared/lib/time";
import { Dialog } from "../../../shared/ui/dialog";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { FormError } from "../../../shared/ui/error-notice";
import { useForm, type Form } from "../../../shared/ui/form";
import { ButtonRow, FieldPair } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import type { MonitorRow } from "../data";
import { changeMonitors, previewChange, type Change } from "./bulk-changes";
import { changeOf, unchanged, type BulkValues, type Way } from "./bulk-values";
import styles from "./bulk.module.css";
import { tagsOf } from "./view";

const INTERVALS = [10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400];

/** The preview is requested once the user pauses. */
const PREVIEW_DELAY = 250;

interface Props {
  list: MonitorRow[];
  close: () => void;
  deselect: (ids: readonly string[]) => void;
}

export function BulkEdit({ list, close, deselect }: Props) {
  const t = useTexts();
  const { bulk } = t;
  const client = useQueryClient();
  const { data: all = [] } = useQuery(notifiersQuery);
  const ids = list.map(({ monitorid }) => monitorid);
  const form = useForm(unchanged, async (values) => {
    const change = changeOf(values);
    if (!change) return;
    const changed = await changeMonitors(client, ids, change, () => undefined);
    showToast(bulk.changed(changed));
    deselect(ids);
    close();
  });
  const change = changeOf(form.values);
  return (
    <Dialog title={bulk.editTitle(list.length)} close={close} size="lg">
      <form className={styles.form} onSubmit={form.submit} noValidate>
        <Timing form={form} />
        <TagsInput
          label={bulk.addTags}
          description={t.form.tagsHelp}
          value={form.values.tagsAdd}
          onChange={(tags) => form.set("tagsAdd", tags)}
          dropdownOpened={false}
        />
        <MultiSelect
          label={bulk.removeTags}
          data={tagsOf(list)}
          searchable
          value={form.values.tagsRemove}
          onChange={(tags) => form.set("tagsRemove", tags)}
          disabled={list.every(({ tags }) => tags.length === 0)}
        />
        {all.length > 0 && <Notifiers form={form} all={all} />}
        {/* What is wrong with a field is wrong in the preview too. */}
        {form.fault === null ? <Preview ids={ids} change={change} /> : <FormError text={form.fault} />}
        <ButtonRow>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit" disabled={!change} loading={form.busy}>
            {t.common.save}
          </Button>
        </ButtonRow>
      </form>
    </Dialog>
  );
}

function Timing({ form }: { form: Form<BulkValues> }) {
  const t = useTexts();
  const { bulk } = t;
  return (
    <FieldPair>
      <NativeSelect
        label={t.form.interval}
        data={[{ value: "", label: bulk.noChange }, ...INTERVALS.map((seconds) => ({ value: String(seconds), label: interval(seconds) }))]}
        value={form.values.interval}
        onChange={(event) => form.set("interval", event.currentTarget.value)}
        data-autofocus
      />
      <NumberInput
        label={t.form.retries}
        placeholder={bulk.noChange}
        value={form.values.retries}
        onChange={(value) => form.set("retries", typeof value === "number" ? value : "")}
        min={0}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        hideControls
      />
    </FieldPair>
  );
}

const ways: readonly Way[] = ["keep", "add", "remove"];

function Notifiers({ form, all }: { form: Form<BulkValues>; all: readonly Notifier[] }) {
  const t = useTexts();
  const { bulk } = t;
  const chosen = form.values.notifiers;
  return (
    <fieldset className={styles.notifierWays}>
      <legend>{t.notifiers.title}</legend>
      {all
        .toSorted((a, b) => a.name.localeCompare(b.name))
        .map((notifier) => (
          <div key={notifier.notifierid}>
            <span>
              <b>{notifier.name}</b>
              <span>{receiverOf(notifier)}</span>
            </span>
            <NativeSelect
              aria-label={bulk.notifier(notifier.name)}
              data={ways.map((way) => ({ value: way, label: bulk.ways[way] }))}
              value={chosen[notifier.notifierid] ?? "keep"}
              onChange={(event) => form.set("notifiers", { ...chosen, [notifier.notifierid]: event.currentTarget.value as Way })}
            />
          </div>
        ))}
    </fieldset>
  );
}

/** How many monitors will change, or why they cannot. */
function Preview({ ids, change }: { ids: readonly string[]; change: Change | null }) {
  const { bulk } = useTexts();
  const { locale } = useLanguage();
  const errorMessage = useErrorMessage();
  const [asked] = useDebouncedValue(change, PREVIEW_DELAY);
  const { data, error } = useQuery({
    queryKey: ["bulk-preview", ids, asked],
    queryFn: ({ signal }) => previewChange(ids, asked ?? {}, signal),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  if (change === null) return <p role="status">{bulk.nothing}</p>;
  if (error) return <FormError text={errorMessage(error)} />;
  return <p role="status">{data !== undefined && bulk.preview(data.toLocaleString(locale), ids.length.toLocaleString(locale))}</p>;
}
