/** Creates or edits a notifier. */
import { Button, NumberInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { useTexts } from "../../shared/i18n";
import { CopyLine } from "../../shared/ui/copy-line";
import { ErrorNotice, FormError } from "../../shared/ui/error-notice";
import { flag, text, useForm, type Form } from "../../shared/ui/form";
import { Loading } from "../../shared/ui/loading";
import { Page, Panel } from "../../shared/ui/page";
import { UnsavedChangesGuard } from "../../shared/ui/unsaved-changes";
import { NotFound } from "../../shared/ui/not-found";
import { ButtonRow, FieldPair, PasswordField } from "../../shared/ui/form-layout";
import { showToast } from "../../shared/ui/toast";
import { notifiers, save, type Notifier } from "./data";
import styles from "./notifiers.module.css";
import { Preview } from "./preview";
import { addresses, bodyOf, initial, kindOf, kinds, suggestedName, valuesOf, type Kind, type Values } from "./values";

type NotifierForm = Form<Values>;

export function Component() {
  const t = useTexts();
  const { id } = useParams();
  const [search] = useSearchParams();
  const { data, error, refetch } = useQuery({ ...notifiers, enabled: id !== undefined });
  if (id === undefined) return <Editor key="new" start={initial(kindOf(search.get("kind")))} />;
  const found = data?.find((notifier) => notifier.notifierid === id);
  if (found) return <Editor key={id} was={found} start={valuesOf(found)} />;
  if (data) return <NotFound instead={["/notifiers", t.notifiers.title]} />;
  return error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />;
}

/** The kinds whose receivers can verify the signature. */
const signed: readonly Kind[] = ["standard", "uptime_kuma", "own"];

function Editor({ was, start }: { was?: Notifier; start: Values }) {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const [created, setCreated] = useState<Notifier | null>(null);
  const form = useForm(start, async (values) => {
    const saved = await save(client, bodyOf(values, was?.notifierid));
    leaving.current = true;
    if (saved.webhook?.secret && signed.includes(values.kind)) {
      setCreated(saved);
      return;
    }
    showToast(t.form.saved(saved.name));
    await navigate(`/notifier/${saved.notifierid}`, { replace: true });
  });
  if (created) return <Created notifier={created} />;
  const { kind } = form.values;
  return (
    <Page title={was ? t.form.editTitle(was.name) : t.notifiers.new}>
      <div className={styles.editor}>
        <form className={styles.form} onSubmit={form.submit} noValidate>
          <KindPicker form={form} was={was} />
          <Panel>
            <div className={styles.fields}>
              {kind === "email" ? <Recipients form={form} /> : <Receiver form={form} kind={kind} />}
              <TextInput
                {...text(form, "name")}
                label={t.form.name}
                description={t.notifiers.nameHelp}
                placeholder={suggestedName(form.values)}
                autoComplete="off"
              />
            </div>
          </Panel>
          {kind === "email" && <Server form={form} />}
          <FormError text={form.fault} />
          <ButtonRow>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={form.busy}>
              {was ? t.common.save : t.notifiers.create}
            </Button>
          </ButtonRow>
        </form>
        <aside className={styles.beside}>
          <Preview values={form.values} />
        </aside>
      </div>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}

/** The type of an existing notifier cannot change, so only kinds of the same type are offered. */
function KindPicker({ form, was }: { form: NotifierForm; was: Notifier | undefined }) {
  const t = useTexts();
  const offered = kinds.filter((kind) => !was || (kind === "email") === (was.type === "email"));
  if (offered.length === 1) return null;
  return (
    <fieldset className={styles.kinds}>
      <legend>{t.notifiers.kind}</legend>
      {offered.map((kind) => (
        <label key={kind} className={styles.kind} data-chosen={form.values.kind === kind || undefined}>
          <input type="radio" name="kind" value={kind} checked={form.values.kind === kind} onChange={() => form.set("kind", kind)} />
          {t.notifiers.kinds[kind]}
        </label>
      ))}
    </fieldset>
  );
}

function Recipients({ form }: { form: NotifierForm }) {
  const t = useTexts();
  return (
    <>
      <TextInput
        {...text(form, "email.to_email")}
        label={t.notifiers.to}
        description={t.notifiers.toHelp}
        placeholder="ops@example.com, on-call@example.com"
        inputMode="email"
        autoFocus={form.values["email.to_email"] === ""}
      />
      <FieldPair>
        <TextInput {...text(form, "email.to_cc")} label={t.notifiers.cc} inputMode="email" />
        <TextInput {...text(form, "email.to_bcc")} label={t.notifiers.bcc} inputMode="email" />
      </FieldPair>
      <TextInput
        {...text(form, "email.subject")}
        label={t.notifiers.subject}
        description={t.notifiers.subjectHelp}
        placeholder="{{ name }} is {{ status }}"
        spellCheck={false}
      />
    </>
  );
}

const securities = ["tls", "none"] as const;

function Server({ form }: { form: NotifierForm }) {
  const t = useTexts();
  return (
    <Panel title={t.notifiers.server} lead={t.notifiers.serverLead}>
      <div className={styles.fields}>
        <FieldPair wide>
          <TextInput
            {...text(form, "email.hostname")}
            label={t.form.host}
            placeholder="smtp.example.com"
            autoCapitalize="off"
            spellCheck={false}
          />
          <NumberInput
            name="email.port"
            label={t.form.port}
            value={form.values["email.port"]}
            error={form.errors["email.port"]}
            onChange={(value) => form.set("email.port", typeof value === "number" ? value : "")}
            allowDecimal={false}
            allowNegative={false}
            hideControls
          />
        </FieldPair>
        <FieldPair>
          <Select
            name="email.security"
            label={t.notifiers.security}
            description={
              form.values["email.security"] === "none"
                ? t.notifiers.plain
                : form.values["email.port"] === 465
                  ? t.notifiers.implicit
                  : t.notifiers.starttls
            }
            data={securities.map((value) => ({ value, label: t.notifiers.securities[value] }))}
            value={form.values["email.security"]}
            error={form.errors["email.security"]}
            onChange={(value) => value !== null && form.set("email.security", value)}
            allowDeselect={false}
          />
          <TextInput
            {...text(form, "email.from_email")}
            label={t.notifiers.from}
            description={t.notifiers.fromHelp}
            placeholder="wakeful@example.com"
            inputMode="email"
          />
        </FieldPair>
        <FieldPair>
          <TextInput {...text(form, "email.username")} label={t.form.username} description={t.notifiers.usernameHelp} autoComplete="off" />
          <PasswordField
            form={form}
            field="email.password"
            label={t.auth.password}
            description={t.notifiers.passwordHelp}
            autoComplete="new-password"
          />
        </FieldPair>
        {form.values["email.security"] === "tls" && (
          <Switch {...flag(form, "email.ignore_tls_errors")} label={t.form.ignoreTls} description={t.form.ignoreTlsHelp} />
        )}
      </div>
    </Panel>
  );
}

function Receiver({ form, kind }: { form: NotifierForm; kind: Exclude<Kind, "email"> }) {
  const t = useTexts();
  return (
    <>
      <TextInput
        {...text(form, "webhook.url")}
        label={t.notifiers.url}
        description={t.notifiers.urlHelp[kind]}
        placeholder={addresses[kind] ?? "https://example.com/hooks/wakeful"}
        inputMode="url"
        autoCapitalize="off"
        spellCheck={false}
        autoFocus={form.values["webhook.url"] === ""}
      />
      {kind === "own" && (
        <Textarea
          {...text(form, "webhook.template")}
          label={t.notifiers.template}
          description={t.notifiers.templateHelp}
          rows={8}
          spellCheck={false}
          classNames={{ input: styles.code ?? "" }}
        />
      )}
      <Textarea
        {...text(form, "webhook.headers")}
        label={t.notifiers.headers}
        description={t.form.headersHelp}
        placeholder="Authorization: Bearer …"
        rows={2}
        spellCheck={false}
        classNames={{ input: styles.code ?? "" }}
      />
    </>
  );
}

/** Shows the signing secret, which is returned only once. */
function Created({ notifier }: { notifier: Notifier }) {
  const t = useTexts();
  const navigate = useNavigate();
  return (
    <Page title={t.notifiers.createdTitle(notifier.name)} narrow>
      <Panel title={t.notifiers.signature} lead={t.notifiers.signatureLead}>
        <div className={styles.secret}>
          <p>{t.notifiers.once}</p>
          <CopyLine label={t.notifiers.secret} value={notifier.webhook?.secret ?? ""} />
          <ButtonRow>
            <Button onClick={() => void navigate(`/notifier/${notifier.notifierid}`, { replace: true })}>{t.notifiers.saved}</Button>
          </ButtonRow>
        </div>
      </Panel>
    </Page>
  );
}
