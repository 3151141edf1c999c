/** The form of a notifier, on its page and in the dialog that creates one in place. */
import { Button, Switch, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../shared/api/error";
import { useTexts } from "../../shared/i18n";
import { CopyLine } from "../../shared/ui/copy-line";
import { FormError } from "../../shared/ui/error-notice";
import { useErrorMessage } from "../../shared/ui/error-message";
import { flag, text, useForm, type Form } from "../../shared/ui/form";
import { ButtonRow } from "../../shared/ui/form-layout";
import { Send } from "../../shared/ui/icons";
import { Panel } from "../../shared/ui/page";
import { notifiersQuery, save, test, type Notifier } from "./data";
import gallery from "./gallery.module.css";
import { formOf, webhookKinds, type Kind } from "./kinds";
import { KindMark } from "./mark";
import { checkRules, isCombined, rulesBody } from "./message-rules";
import { MessageRulesFields } from "./message-rules-fields";
import styles from "./notifiers.module.css";
import { Preview } from "./preview";
import { TestAnswer, type Answer } from "./test-answer";
import { bodyOf, suggestedName, type Values } from "./values";

type NotifierForm = Form<Values>;

/** The state of the form. Without a name, a notifier is named after its receiver, unless another one is. */
export function useNotifierForm(was: Notifier | undefined, start: Values, saved: (notifier: Notifier, values: Values) => void) {
  const client = useQueryClient();
  const { data } = useQuery(notifiersQuery);
  const taken = (data ?? []).filter(({ notifierid }) => notifierid !== was?.notifierid).map(({ name }) => name);
  const t = useTexts();
  const form = useForm(
    start,
    async (values) => {
      const body = {
        ...bodyOf(values, taken, was?.notifierid, t.notifiers.kinds[values.kind]),
        ...rulesBody(values, formOf(values.kind).type, was),
      };
      saved(await save(client, body), values);
    },
    (values) => checkRules(values, t),
  );
  return { form, taken };
}

interface Props {
  form: NotifierForm;
  taken: readonly string[];
  was?: Notifier;
  cancel: () => void;
  /** Back to the gallery. */
  chooseKind?: () => void;
}

export function NotifierFields({ form, taken, was, cancel, chooseKind }: Props) {
  const t = useTexts();
  const { Receiver, Server } = formOf(form.values.kind);
  return (
    <div className={styles.editor}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          // The form may be in a dialog within another form.
          event.stopPropagation();
          form.submit(event);
        }}
        noValidate
      >
        {chooseKind && <ChosenKind kind={form.values.kind} change={chooseKind} />}
        {was?.type === "webhook" && <FormatPicker form={form} />}
        <Panel>
          <div className={styles.fields}>
            <Receiver form={form} was={was} />
            <TextInput
              {...text(form, "name")}
              label={t.form.name}
              description={t.notifiers.nameHelp}
              placeholder={suggestedName(form.values, taken, t.notifiers.kinds[form.values.kind])}
              autoComplete="off"
            />
            <Switch {...flag(form, "isdefault")} label={t.notifiers.useByDefault} description={t.notifiers.useByDefaultHelp} />
          </div>
        </Panel>
        {Server && <Server form={form} />}
        <MessageRulesFields form={form} combines={isCombined(formOf(form.values.kind).type)} />
        <FormError text={form.fault} />
        <TestBeforeSaving form={form} taken={taken} was={was} />
        <ButtonRow>
          <Button variant="default" onClick={cancel}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={form.busy}>
            {was ? t.common.save : t.notifiers.create}
          </Button>
        </ButtonRow>
      </form>
      <aside className={styles.beside}>
        <Preview values={form.values} was={was} />
      </aside>
    </div>
  );
}

/** The kind of a new notifier. */
function ChosenKind({ kind, change }: { kind: Kind; change: () => void }) {
  const t = useTexts();
  return (
    <div className={gallery.chosen}>
      <KindMark kind={kind} />
      <b>{t.notifiers.kinds[kind]}</b>
      <Button variant="default" size="xs" onClick={change}>
        {t.notifierKinds.change}
      </Button>
    </div>
  );
}

/** What a webhook sends can change. */
function FormatPicker({ form }: { form: NotifierForm }) {
  const t = useTexts();
  return (
    <fieldset className={styles.kinds}>
      <legend>{t.notifiers.kind}</legend>
      {webhookKinds.map((kind) => (
        <label key={kind} className={styles.kind} data-chosen={form.values.kind === kind || undefined}>
          <input type="radio" name="kind" value={kind} checked={form.values.kind === kind} onChange={() => form.set("kind", kind)} />
          {t.notifiers.kinds[kind]}
        </label>
      ))}
    </fieldset>
  );
}

/** Sends a test with the values in the form; nothing is saved. */
function TestBeforeSaving({ form, taken, was }: Pick<Props, "form" | "taken" | "was">) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const run = async () => {
    setBusy(true);
    setAnswer(null);
    try {
      const body = bodyOf(form.values, taken, was?.notifierid, t.notifiers.kinds[form.values.kind]);
      // Without a receiver, nothing suggests a name yet; its error is the one to show.
      setAnswer(await test({ ...body, name: body.name || t.notifiers.new }));
    } catch (error) {
      if (error instanceof ApiError && Object.keys(error.fields).length > 0) form.refuse(error.fields);
      else setAnswer({ text: errorMessage(error), failed: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {answer && <TestAnswer answer={answer} />}
      <div>
        <Button variant="default" leftSection={<Send />} loading={busy} onClick={() => void run()}>
          {t.notifiers.test}
        </Button>
      </div>
    </>
  );
}

/** Whether the new signing secret of a notifier must be shown, which is returned only once. */
export function hasSecret(saved: Notifier, values: Values): boolean {
  return !!saved.webhook?.secret && formOf(values.kind).signed === true;
}

export function Secret({ notifier, done }: { notifier: Notifier; done: () => void }) {
  const t = useTexts();
  return (
    <Panel title={t.notifiers.signature} lead={t.notifiers.signatureLead}>
      <div className={styles.secret}>
        <p>{t.notifiers.once}</p>
        <CopyLine label={t.notifiers.secret} value={notifier.webhook?.secret ?? ""} />
        <ButtonRow>
          <Button onClick={done}>{t.notifiers.saved}</Button>
        </ButtonRow>
      </div>
    </Panel>
  );
}
