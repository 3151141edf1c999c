/** The form of a monitor. Rarely used settings are collapsed. */
import { Button, MultiSelect, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError } from "../../../shared/api/error";
import { interval } from "../../../shared/lib/time";
import { useTexts } from "../../../shared/i18n";
import { FormError } from "../../../shared/ui/error-notice";
import { flag, text, useForm, type Form } from "../../../shared/ui/form";
import { Page, Panel } from "../../../shared/ui/page";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { FieldPair, PasswordField } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { monitors, save, tryOut, types, type Heartbeat } from "../data";
import { NotifierPicker } from "../notifier-picker";
import { LOCAL, regions } from "../regions";
import { CheckResult } from "../check-result";
import styles from "./edit.module.css";
import { authentications, bodyOf, isHttp, methods, recordTypes, suggestedName, type Values } from "./values";

interface Props {
  id?: string;
  /** The saved name. */
  was?: string;
  start: Values;
}

type MonitorForm = Form<Values>;

export function Editor({ id, was, start }: Props) {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const form = useForm(start, async (values) => {
    const name = values.name.trim() === "" ? suggestedName(values) : values.name;
    const saved = await save(client, bodyOf({ ...values, name }, id)).catch((error: unknown) => {
      throw values.name.trim() === "" ? unnamed(error) : error;
    });
    leaving.current = true;
    showToast(id === undefined ? t.form.created(saved.name) : t.form.saved(saved.name));
    await navigate(`/monitor/${saved.monitorid}`, { replace: true });
  });
  return (
    <Page title={id === undefined ? t.form.newTitle : t.form.editTitle(was ?? "")} narrow>
      <form className={styles.form} onSubmit={form.submit} noValidate>
        <TypePicker form={form} />
        <Target form={form} />
        <Timing form={form} />
        <Regions form={form} />
        <Notify form={form} />
        <Advanced form={form} />
        <FormError text={form.fault} />
        <div className={styles.foot}>
          {form.values.type !== "api" && <TryCheck form={form} id={id} />}
          <div className={styles.buttons}>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={form.busy}>
              {id === undefined ? t.form.create : t.common.save}
            </Button>
          </div>
        </div>
      </form>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}

/** Drops the error about a missing name if other fields are invalid: the name defaults to the host. */
function unnamed(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const others = Object.fromEntries(Object.entries(error.fields).filter(([field]) => field !== "name"));
  return Object.keys(others).length === 0 ? error : new ApiError(error.status, error.code, error.message, others);
}

function TypePicker({ form }: { form: MonitorForm }) {
  const t = useTexts();
  return (
    <fieldset className={styles.types}>
      <legend className="sr-only">{t.monitors.type}</legend>
      {types.map((type) => (
        <label key={type} className={styles.type} data-chosen={form.values.type === type || undefined}>
          <input type="radio" name="type" value={type} checked={form.values.type === type} onChange={() => form.set("type", type)} />
          <b>{t.monitors.types[type]}</b>
          <span>{t.form.typeHelp[type]}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A number field; empty means the default of the service. */
function number(form: MonitorForm, field: "timeout" | "retries" | "retry_interval" | "resend_interval" | "grace" | "http.max_redirects") {
  return {
    name: field,
    value: form.values[field],
    error: form.errors[field],
    onChange: (value: number | string) => form.set(field, typeof value === "number" ? value : ""),
    min: 0,
    // Values out of range are rejected with a message instead of being changed silently.
    clampBehavior: "none" as const,
    allowDecimal: false,
    allowNegative: false,
    hideControls: true,
  };
}

function choice(form: MonitorForm, field: "http.method" | "http.authentication_type" | "dns.record_type") {
  return {
    name: field,
    value: form.values[field],
    error: form.errors[field],
    onChange: (value: string | null) => value !== null && form.set(field, value),
    allowDeselect: false,
  };
}

function Target({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { type } = form.values;
  const name = (
    <TextInput
      {...text(form, "name")}
      label={t.form.name}
      placeholder={suggestedName(form.values)}
      description={type === "api" ? t.form.nameHelpApi : t.form.nameHelp}
      autoComplete="off"
    />
  );
  return (
    <Panel>
      <div className={styles.fields}>
        {isHttp(type) && (
          <>
            <TextInput
              {...text(form, "http.url")}
              label={t.form.url}
              description={t.form.urlHelp}
              placeholder="https://example.com/health"
              inputMode="url"
              autoCapitalize="off"
              spellCheck={false}
              autoFocus={form.values["http.url"] === ""}
            />
            {type === "http_keyword" && (
              <TextInput {...text(form, "http.keyword")} label={t.form.keyword} description={t.form.keywordHelp} />
            )}
          </>
        )}
        {type === "ping" && <Host form={form} help={t.form.pingHelp} />}
        {type === "tcp" && (
          <FieldPair wide>
            <Host form={form} help={t.form.hostHelp} />
            <TextInput {...text(form, "port")} label={t.form.port} description={t.form.portHelp} inputMode="numeric" />
          </FieldPair>
        )}
        {type === "dns" && (
          <>
            <FieldPair wide>
              <Host form={form} help={t.form.dnsHelp} />
              <Select {...choice(form, "dns.record_type")} label={t.form.record} description={t.form.recordHelp} data={recordTypes} />
            </FieldPair>
            <FieldPair wide>
              <TextInput {...text(form, "dns.resolver_server")} label={t.form.resolver} description={t.form.resolverHelp} />
              <TextInput
                {...text(form, "port")}
                label={t.form.port}
                description={t.form.dnsPortHelp}
                placeholder="53"
                inputMode="numeric"
              />
            </FieldPair>
          </>
        )}
        {type === "api" && <p className={styles.note}>{t.form.apiNote}</p>}
        {name}
      </div>
    </Panel>
  );
}

function Host({ form, help }: { form: MonitorForm; help: string }) {
  const t = useTexts();
  return (
    <TextInput
      {...text(form, "hostname")}
      label={t.form.host}
      description={help}
      placeholder="example.com"
      autoCapitalize="off"
      spellCheck={false}
    />
  );
}

const intervals = [10, 20, 30, 60, 120, 300, 600, 1800, 3600, 86_400];

function Timing({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const client = useQueryClient();
  const known = [...new Set(client.getQueryData(monitors.queryKey)?.flatMap((monitor) => monitor.tags))];
  const { type, heartbeat_interval: seconds } = form.values;
  return (
    <Panel>
      <div className={styles.fields}>
        <FieldPair>
          <div className={styles.every}>
            <NumberInput
              name="heartbeat_interval"
              label={type === "api" ? t.form.expected : t.form.interval}
              description={type === "api" ? t.form.expectedHelp : t.form.intervalHelp}
              value={seconds}
              error={form.errors.heartbeat_interval}
              onChange={(value) => form.set("heartbeat_interval", typeof value === "number" ? value : 0)}
              min={1}
              clampBehavior="none"
              allowDecimal={false}
              allowNegative={false}
              suffix=" s"
              hideControls
            />
            <div className={styles.presets} role="group" aria-label={t.form.presets}>
              {intervals.map((preset) => (
                <button key={preset} type="button" aria-pressed={seconds === preset} onClick={() => form.set("heartbeat_interval", preset)}>
                  {interval(preset)}
                </button>
              ))}
            </div>
          </div>
          {type === "api" ? (
            <NumberInput
              {...number(form, "grace")}
              label={t.form.grace}
              description={t.form.graceHelp}
              suffix=" s"
              placeholder={t.form.auto}
            />
          ) : (
            <NumberInput {...number(form, "retries")} label={t.form.retries} description={t.form.retriesHelp} />
          )}
        </FieldPair>
        <TagsInput
          label={t.form.tags}
          description={t.form.tagsHelp}
          name="tags"
          value={form.values.tags}
          error={form.errors.tags}
          onChange={(tags) => form.set("tags", tags)}
          data={known}
          splitChars={[","]}
        />
      </div>
    </Panel>
  );
}

/** Shown if there are probes or the monitor has regions: where to check from, and the quorum. */
function Regions({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { data } = useQuery(regions);
  const { type, regions: chosen, quorum } = form.values;
  const names = [...new Set([LOCAL, ...(data ?? []).map(({ region }) => region), ...chosen])];
  if (type === "api" || names.length === 1) return null;
  const counts = [...new Set([...chosen.slice(1).map((_, index) => String(index + 1)), quorum])].filter((count) => Number(count) > 0);
  const agreements = [
    ...(["any", "majority", "all"] as const).map((value) => ({ value, label: t.regions.agreements[value] })),
    ...counts.map((value) => ({ value, label: t.regions.agreement(value) })),
  ];
  return (
    <Panel>
      <div className={styles.fields}>
        <MultiSelect
          name="regions"
          label={t.regions.choose}
          description={t.regions.chooseHelp}
          data={names.map((name) => ({ value: name, label: name === LOCAL ? t.regions.local : name }))}
          searchable
          value={chosen}
          error={form.errors.regions}
          onChange={(value) => form.set("regions", value)}
        />
        {chosen.length > 1 && (
          <Select
            name="quorum"
            label={t.regions.agree}
            description={t.regions.agreeHelp}
            data={agreements}
            value={quorum}
            error={form.errors.quorum}
            onChange={(value) => value !== null && form.set("quorum", value)}
            allowDeselect={false}
          />
        )}
      </div>
    </Panel>
  );
}

function Notify({ form }: { form: MonitorForm }) {
  const t = useTexts();
  return (
    <Panel title={t.notifiers.choose} lead={t.notifiers.chooseHelp}>
      <NotifierPicker chosen={form.values.notifiers} choose={(ids) => form.set("notifiers", ids)} />
      <FormError text={form.errors.notifiers ?? null} />
    </Panel>
  );
}

const folded = [
  "http.method",
  "http.headers",
  "http.body",
  "http.accepted_status_codes",
  "http.authentication_type",
  "http.username",
  "http.password",
  "http.max_redirects",
  "timeout",
  "retry_interval",
  "resend_interval",
];

function Advanced({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  const wrong = folded.some((field) => form.errors[field] !== undefined);
  const { type } = form.values;
  return (
    <details className={styles.advanced} open={open || wrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.form.advanced}</summary>
      <div className={styles.fields}>
        {isHttp(type) && <HttpFields form={form} />}
        {type !== "api" && (
          <FieldPair>
            <NumberInput
              {...number(form, "timeout")}
              label={t.form.timeout}
              description={t.form.timeoutHelp}
              suffix=" s"
              placeholder={t.form.auto}
            />
            <NumberInput
              {...number(form, "retry_interval")}
              label={t.form.retryInterval}
              description={t.form.retryIntervalHelp}
              suffix=" s"
              placeholder={t.form.auto}
            />
          </FieldPair>
        )}
        <NumberInput
          {...number(form, "resend_interval")}
          label={t.form.remind}
          description={t.form.remindHelp}
          suffix=" s"
          placeholder={t.form.never}
        />
        <Switch {...flag(form, "upside_down_mode")} label={t.form.inverted} description={t.form.invertedHelp} />
        <Switch {...flag(form, "isactive")} label={t.form.active} description={t.form.activeHelp} />
      </div>
    </details>
  );
}

function HttpFields({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { values } = form;
  return (
    <>
      <FieldPair>
        <Select {...choice(form, "http.method")} label={t.form.method} description={t.form.methodHelp} data={methods} />
        <TextInput {...text(form, "http.accepted_status_codes")} label={t.form.codes} description={t.form.codesHelp} />
      </FieldPair>
      {values.type === "http" && (
        <TextInput {...text(form, "http.keyword")} label={t.form.keywordOptional} description={t.form.keywordHelp} />
      )}
      <Textarea
        {...text(form, "http.headers")}
        label={t.form.headers}
        description={t.form.headersHelp}
        placeholder={"Accept: application/json"}
        rows={3}
        spellCheck={false}
        classNames={{ input: styles.code ?? "" }}
      />
      {values["http.method"] !== "GET" && values["http.method"] !== "HEAD" && (
        <Textarea
          {...text(form, "http.body")}
          label={t.form.body}
          description={t.form.bodyHelp}
          rows={4}
          spellCheck={false}
          classNames={{ input: styles.code ?? "" }}
        />
      )}
      <Select
        {...choice(form, "http.authentication_type")}
        label={t.form.authentication}
        description={t.form.authenticationHelp}
        data={authentications.map((value) => ({ value, label: t.form.authentications[value as "none"] }))}
      />
      {values["http.authentication_type"] !== "none" && (
        <FieldPair>
          <TextInput
            {...text(form, "http.username")}
            label={t.form.username}
            description={values["http.authentication_type"] === "ntlm" ? t.form.ntlmHelp : t.form.usernameHelp}
            autoComplete="off"
          />
          <PasswordField
            form={form}
            field="http.password"
            label={t.auth.password}
            description={t.form.passwordHelp}
            autoComplete="new-password"
          />
        </FieldPair>
      )}
      <NumberInput {...number(form, "http.max_redirects")} label={t.form.redirects} description={t.form.redirectsHelp} />
      <Switch {...flag(form, "http.certificate_expiry_notification")} label={t.form.certificate} description={t.form.certificateHelp} />
      <Switch {...flag(form, "http.ignore_tls_error")} label={t.form.ignoreTls} description={t.form.ignoreTlsHelp} />
    </>
  );
}

/** On phones, the result would be hidden below the navigation bar. */
function intoView(result: HTMLElement | null) {
  result?.scrollIntoView({ block: "center" });
}

/** Runs the check once with the current values; nothing is saved. */
function TryCheck({ form, id }: { form: MonitorForm; id: string | undefined }) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const [seen, setSeen] = useState<Heartbeat | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const run = async () => {
    setBusy(true);
    setFault(null);
    setSeen(null);
    try {
      setSeen(await tryOut(bodyOf({ ...form.values, name: form.values.name || "?" }, id)));
    } catch (error) {
      if (error instanceof ApiError && Object.keys(error.fields).length > 0) form.refuse(error.fields);
      else setFault(errorMessage(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={styles.try}>
      <Button variant="default" loading={busy} onClick={() => void run()}>
        {t.form.try}
      </Button>
      <FormError text={fault} />
      {seen && (
        <div className={styles.result} ref={intoView}>
          <CheckResult beat={seen} />
        </div>
      )}
    </div>
  );
}
