/** Adds or changes a subscriber, and imports many of them. */
import { Button, Checkbox, MultiSelect, Select, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { find } from "../../../shared/api/closed-sets";
import type { Statuspage } from "../../../shared/api/statuspages";
import { importSubscribers, saveSubscriber, type Subscriber } from "../../../shared/api/subscribers";
import { useTexts } from "../../../shared/i18n";
import { CopyLine } from "../../../shared/ui/copy-line";
import { Dialog } from "../../../shared/ui/dialog";
import { flag, text, useForm } from "../../../shared/ui/form";
import { ButtonRow, FieldPair, FormLayout, Rows } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import { Toggles } from "../../../shared/ui/toggles";
import styles from "../statuspages.module.css";
import { addressesOf, bodyOf, check, formats, initial, kinds, MAX_IMPORT, scopeOptions, topics, valuesOf } from "./values";

interface Props {
  page: Statuspage;
  subscriber: Subscriber | undefined;
  close: () => void;
}

export function SubscriberDialog({ page, subscriber, close }: Props) {
  const t = useTexts();
  const { statuspages } = t;
  const { subscribers: texts } = statuspages;
  const client = useQueryClient();
  // Shown once, so the dialog stays open.
  const [secret, setSecret] = useState<string | null>(null);
  const form = useForm(
    subscriber ? valuesOf(subscriber) : initial(page.language),
    async (values) => {
      const saved = await saveSubscriber(client, page.pageid, bodyOf(values, subscriber?.subscriberid));
      showToast(saved.state === "pending" ? texts.confirmationSent : t.form.saved(saved.address));
      if (saved.secret) setSecret(saved.secret);
      else close();
    },
    (values) => check(values, t),
  );
  const { values, errors } = form;
  const languages = [...new Set([page.language, ...page.languages, values.language])];
  const title = subscriber ? t.form.editTitle(subscriber.address) : texts.add;
  if (secret !== null) {
    return (
      <Dialog title={texts.secretTitle} close={close} closeOnClickOutside={false}>
        <Rows>
          <p>{texts.secretHelp}</p>
          <CopyLine label={texts.secret} value={secret} wrap />
          <ButtonRow>
            <Button onClick={close}>{t.common.close}</Button>
          </ButtonRow>
        </Rows>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} close={close} closeOnClickOutside={false}>
      <FormLayout form={form} action={subscriber ? t.common.save : texts.add} cancel={close}>
        {!subscriber && (
          <>
            <Select
              name="kind"
              label={texts.kind}
              data={kinds.map((value) => ({ value, label: texts.kinds[value] }))}
              allowDeselect={false}
              value={values.kind}
              error={errors.kind}
              onChange={(value) => form.set("kind", find(kinds, value) ?? values.kind)}
            />
            <TextInput
              {...text(form, "address")}
              type={values.kind === "email" ? "email" : "url"}
              label={values.kind === "email" ? texts.email : "URL"}
              maxLength={2000}
              autoComplete="off"
              data-autofocus
            />
          </>
        )}
        {values.kind === "webhook" && (
          <Select
            name="format"
            label={texts.format}
            data={formats.map((value) => ({ value, label: texts.formats[value] }))}
            allowDeselect={false}
            value={values.format}
            error={errors.format}
            onChange={(value) => form.set("format", find(formats, value) ?? "standard")}
          />
        )}
        <FieldPair>
          <Toggles
            name="kinds"
            legend={texts.topics}
            choices={topics.map((topic) => [topic, texts.topicNames[topic], texts.topicNames[topic]] as const)}
            chosen={values.kinds}
            choose={(chosen) => form.set("kinds", chosen)}
            error={errors.kinds}
          />
          {languages.length > 1 && (
            <Select
              name="language"
              label={statuspages.appearance.language}
              data={languages.map((value) => ({ value, label: statuspages.appearance.languages[value] }))}
              allowDeselect={false}
              value={values.language}
              error={errors.language}
              onChange={(value) => form.set("language", find(languages, value) ?? values.language)}
            />
          )}
        </FieldPair>
        <MultiSelect
          name="scope"
          label={texts.scope}
          description={texts.scopeHelp}
          placeholder={values.scope.length === 0 ? texts.everything : undefined}
          data={scopeOptions(page.sections, statuspages.section)}
          searchable
          hidePickedOptions
          value={values.scope}
          error={errors.scope}
          onChange={(value) => form.set("scope", value)}
        />
        {!subscriber && <Checkbox {...flag(form, "consent")} label={texts.consent} description={texts.consentHelp} />}
      </FormLayout>
    </Dialog>
  );
}

export function ImportDialog({ pageid, close }: { pageid: string; close: () => void }) {
  const t = useTexts();
  const { subscribers: texts } = t.statuspages;
  const client = useQueryClient();
  const file = useRef<HTMLInputElement>(null);
  const form = useForm(
    { subscribers: "", consent: false },
    async (values) => {
      const entries = addressesOf(values.subscribers).map((address) => ({ kind: "email" as const, address }));
      const { added, known, refused } = await importSubscribers(client, pageid, entries);
      showToast(texts.imported(added, known, refused));
      close();
    },
    ({ subscribers, consent }) => {
      const { length } = addressesOf(subscribers);
      return {
        subscribers: length === 0 ? texts.noAddresses : length > MAX_IMPORT ? texts.tooMany(MAX_IMPORT) : undefined,
        consent: consent ? undefined : texts.consentNeeded,
      };
    },
  );
  const found = addressesOf(form.values.subscribers).length;
  return (
    <Dialog title={texts.import} close={close} closeOnClickOutside={false}>
      <FormLayout form={form} action={texts.importAction(found)} cancel={close}>
        <Textarea
          {...text(form, "subscribers")}
          label={texts.addresses}
          description={texts.addressesHelp}
          rows={6}
          autosize
          maxRows={14}
          spellCheck={false}
          data-autofocus
        />
        <div>
          <input
            ref={file}
            type="file"
            hidden
            accept=".csv,.txt,text/csv,text/plain"
            onChange={({ currentTarget }) => {
              const [chosen] = currentTarget.files ?? [];
              void chosen?.text().then((content) => form.set("subscribers", content));
              currentTarget.value = "";
            }}
          />
          <Button variant="default" size="xs" onClick={() => file.current?.click()}>
            {texts.chooseFile}
          </Button>
        </div>
        <p className={styles.quiet} role="status">
          {texts.found(found)}
        </p>
        <Checkbox {...flag(form, "consent")} label={texts.consentAll} />
      </FormLayout>
    </Dialog>
  );
}
