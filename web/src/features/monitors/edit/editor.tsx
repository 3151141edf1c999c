/** The form of a monitor. Rarely used settings are collapsed. */
import { Button, MultiSelect, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type KeyboardEvent } from "react";
import { severities } from "../../../shared/api/alerting-sets";
import { policiesQuery } from "../../../shared/api/policies";
import { formatDuration, parseDuration } from "../../../shared/lib/duration";
import { interval, millis } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { useNavigate } from "../../../shared/router";
import { FormError } from "../../../shared/ui/error-notice";
import { flag, text, useForm, type Form } from "../../../shared/ui/form";
import { Page, Panel } from "../../../shared/ui/page";
import { UnsavedChangesGuard } from "../../../shared/ui/unsaved-changes";
import { FieldPair } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import { monitorsQuery, type Monitor } from "../data";
import { statsQuery } from "../detail/data";
import { NotifierPicker } from "../notifier-picker";
import { LOCAL, regionsQuery } from "../regions";
import { formOf } from "../types";
import { choice, duration, number } from "../types/fields";
import { rowsAfter } from "./assertion";
import { Assertions } from "./assertions";
import { Conflicts } from "./conflicts";
import page from "../../../shared/ui/form-page.module.css";
import styles from "./edit.module.css";
import { useSave } from "./save";
import { isOutdated, TryCheck, type Tested } from "./try-check";
import { TypePicker } from "./type-picker";
import { bodyOf, check, evidenceLevels, intervalAfter, ipFamilies, suggestedName, type Values } from "./values";

interface Props {
  /** The monitor to edit; without it, a new one is created. */
  stored?: Monitor;
  start: Values;
}

type MonitorForm = Form<Values>;

export function Editor({ stored, start }: Props) {
  const t = useTexts();
  const navigate = useNavigate();
  const leaving = useRef(false);
  const [tested, setTested] = useState<Tested | null>(null);
  const { saveValues, conflicts } = useSave(stored);
  const started = useForm(
    start,
    async (values, set) => {
      const saved = await saveValues(values, set);
      if (saved === null) return;
      leaving.current = true;
      const done = stored ? t.form.saved(saved.name) : t.form.created(saved.name);
      showToast(isOutdated(tested, bodyOf(values)) ? `${done} ${t.form.untested}` : done);
      await navigate(`/monitor/${saved.monitorid}`, { replace: true });
    },
    (values) => check(values, t),
  );
  const form = stored ? started : withStartingValues(started);
  const id = stored?.monitorid;
  const { Passive } = formOf(form.values.type);
  return (
    <Page title={stored ? t.form.editTitle(stored.name) : t.form.newTitle}>
      <form className={page.form} onSubmit={form.submit} noValidate>
        <div className={page.sections}>
          <TypePicker chosen={form.values.type} choose={(type) => form.set("type", type)} />
          <Target form={form} />
          <Assertions form={form} />
          <Timing form={form} />
          <Regions form={form} />
          <Notify form={form} />
          <Advanced form={form} id={id} />
        </div>
        {!Passive && (
          <aside className={page.beside}>
            <TryCheck form={form} id={id} tested={tested} setTested={setTested} />
          </aside>
        )}
        <div className={page.foot}>
          <FormError text={form.fault} />
          {conflicts.length > 0 && <Conflicts conflicts={conflicts} form={form} />}
          <div className={page.buttons}>
            <Button variant="default" onClick={() => void navigate(-1)}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={form.busy}>
              {stored ? t.common.save : t.form.create}
            </Button>
          </div>
        </div>
      </form>
      <UnsavedChangesGuard when={() => form.dirty && !leaving.current} />
    </Page>
  );
}

/** The form of a new monitor, in which the interval and the conditions that it starts with follow its type. */
function withStartingValues(form: MonitorForm): MonitorForm {
  return {
    ...form,
    set: (field, value) => {
      form.set(field, value);
      if (field !== "type" && field !== "upside_down_mode") return;
      const after = { ...form.values, [field]: value };
      const interval = intervalAfter(form.values, after.type);
      if (interval !== form.values.heartbeat_interval) form.set("heartbeat_interval", interval);
      const rows = rowsAfter(form.values, after);
      if (rows !== form.values.assertions) form.set("assertions", rows);
    },
  };
}

function Target({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { Target: Fields, Passive } = formOf(form.values.type);
  return (
    <Panel>
      <div className={page.fields}>
        <Fields form={form} />
        <TextInput
          {...text(form, "name")}
          label={t.form.name}
          placeholder={suggestedName(form.values)}
          description={Passive ? t.form.nameHelpApi : t.form.nameHelp}
          autoComplete="off"
        />
      </div>
    </Panel>
  );
}

const intervals = [10, 20, 30, 60, 120, 300, 600, 1800, 3600, 86_400];

function Timing({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const client = useQueryClient();
  const known = [...new Set(client.getQueryData(monitorsQuery.queryKey)?.flatMap((monitor) => monitor.tags))];
  const { type, heartbeat_interval: chosen } = form.values;
  const { Passive } = formOf(type);
  return (
    <Panel>
      <div className={page.fields}>
        <FieldPair>
          <div className={styles.every}>
            <TextInput
              {...duration(form, "heartbeat_interval")}
              label={Passive ? t.form.expected : t.form.interval}
              description={t.form.durationHelp}
            />
            <Presets chosen={parseDuration(chosen)} choose={(preset) => form.set("heartbeat_interval", formatDuration(preset))} />
          </div>
          {Passive ? (
            <Passive form={form} />
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

/** One stop of the Tab key; the arrow keys move within it. */
function Presets({ chosen, choose }: { chosen: number | null; choose: (preset: number) => void }) {
  const t = useTexts();
  const stop = intervals.find((preset) => preset === chosen) ?? intervals[0];
  const move = ({ key, currentTarget }: KeyboardEvent<HTMLButtonElement>) => {
    const next =
      key === "ArrowRight" ? currentTarget.nextElementSibling : key === "ArrowLeft" ? currentTarget.previousElementSibling : null;
    if (next instanceof HTMLElement) next.focus();
  };
  return (
    <div className={styles.presets} role="group" aria-label={t.form.presets}>
      {intervals.map((preset) => (
        <button
          key={preset}
          type="button"
          tabIndex={preset === stop ? 0 : -1}
          aria-pressed={chosen === preset}
          onClick={() => choose(preset)}
          onKeyDown={move}
        >
          {interval(preset)}
        </button>
      ))}
    </div>
  );
}

/** Shown if there are probes or the monitor has regions: where to check from, and the quorum. */
function Regions({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { data } = useQuery(regionsQuery);
  const { type, regions: chosen, quorum } = form.values;
  const names = [...new Set([LOCAL, ...(data ?? []).map(({ region }) => region), ...chosen])];
  if (formOf(type).Passive || names.length === 1) return null;
  const counts = [...new Set([...chosen.slice(1).map((_, index) => String(index + 1)), quorum])].filter((count) => Number(count) > 0);
  const agreements = [
    ...(["any", "majority", "all"] as const).map((value) => ({ value, label: t.regions.agreements[value] })),
    ...counts.map((value) => ({ value, label: t.regions.agreement(value) })),
  ];
  return (
    <Panel>
      <div className={page.fields}>
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
      <NotifierPicker chosen={form.values.notifiers} choose={(ids) => form.set("notifiers", ids)} quiet={form.values.policyid !== ""} />
      <FormError text={form.errors.notifiers ?? null} />
      <Select
        {...choice(form, "severity", severities)}
        className={styles.severity}
        label={t.alerts.severity}
        description={t.form.severityHelp}
        data={severities.map((value) => ({ value, label: t.alerts.severities[value] }))}
      />
      <PolicyField form={form} />
    </Panel>
  );
}

/** Shown if the team has policies. */
function PolicyField({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { data = [] } = useQuery(policiesQuery);
  const { policyid } = form.values;
  if (data.length === 0 && policyid === "") return null;
  const known = data.map((policy) => ({ value: policy.policyid, label: policy.name }));
  return (
    <Select
      name="policyid"
      className={styles.severity}
      label={t.escalation.policy}
      description={t.escalation.policyHelp}
      data={[{ value: "", label: t.escalation.noPolicy }, ...known]}
      allowDeselect={false}
      value={policyid}
      error={form.errors.policyid}
      onChange={(value) => form.set("policyid", value ?? "")}
    />
  );
}

const slowness = ["degraded.slow", "degraded.factor", "degraded.over", "degraded.of", "degraded.regions", "slo.target", "slo.days"];
const folded = [
  "description",
  "timeout",
  "retry_interval",
  "resend_interval",
  "depends_on",
  "flap_outages",
  "flap_within",
  "evidence",
  "ip_family",
  "resolver",
  "connect_to",
  ...slowness,
];

function Advanced({ form, id }: { form: MonitorForm; id: string | undefined }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  const { Advanced: Fields, advanced = [], connects, Passive } = formOf(form.values.type);
  const wrong = [...folded, ...advanced].some((field) => form.errors[field] !== undefined);
  return (
    <details className={page.advanced} open={open || wrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.form.advanced}</summary>
      <div className={page.fields}>
        {Fields && <Fields form={form} />}
        {connects && <Connection form={form} />}
        {!Passive && (
          <FieldPair>
            <TextInput {...duration(form, "timeout")} label={t.form.timeout} description={t.form.timeoutHelp} placeholder={t.form.auto} />
            <TextInput
              {...duration(form, "retry_interval")}
              label={t.form.retryInterval}
              description={t.form.retryIntervalHelp}
              placeholder={t.form.auto}
            />
          </FieldPair>
        )}
        <TextInput
          {...duration(form, "resend_interval")}
          label={t.form.remind}
          description={t.form.remindHelp}
          placeholder={t.form.never}
        />
        <DependsOn form={form} />
        <FieldPair>
          <NumberInput {...number(form, "flap_outages")} label={t.form.flapOutages} description={t.form.flapOutagesHelp} />
          <TextInput {...duration(form, "flap_within")} label={t.form.flapWithin} description={t.form.flapWithinHelp} />
        </FieldPair>
        <Slowness form={form} id={id} />
        {!Passive && (
          <Select
            {...choice(form, "evidence", evidenceLevels)}
            label={t.evidence.level}
            description={t.evidence.levelHelp}
            data={evidenceLevels.map((value) => ({ value, label: t.evidence.levels[value] }))}
          />
        )}
        <Textarea
          {...text(form, "description")}
          label={t.form.description}
          description={t.form.descriptionHelp}
          autosize
          minRows={2}
          maxRows={8}
        />
        <Switch {...flag(form, "upside_down_mode")} label={t.monitors.inverted} description={t.monitors.invertedHelp} />
        <Switch {...flag(form, "isactive")} label={t.form.active} description={t.form.activeHelp} />
      </div>
    </details>
  );
}

/** How checks reach the target. */
function Connection({ form }: { form: MonitorForm }) {
  const t = useTexts();
  return (
    <>
      <Select
        {...choice(form, "ip_family", ipFamilies)}
        label={t.form.ipFamily}
        description={t.form.ipFamilyHelp}
        data={ipFamilies.map((value) => ({ value, label: t.form.ipFamilies[value] }))}
      />
      <FieldPair>
        <TextInput {...text(form, "resolver")} label={t.form.ownResolver} description={t.form.ownResolverHelp} placeholder="192.0.2.53" />
        <TextInput {...text(form, "connect_to")} label={t.form.connectTo} description={t.form.connectToHelp} placeholder="192.0.2.10" />
      </FieldPair>
    </>
  );
}

/** When it is slow, and how much of the time it should be up. */
function Slowness({ form, id }: { form: MonitorForm; id: string | undefined }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { data } = useQuery({ ...statsQuery(id ?? ""), enabled: id !== undefined });
  const p95 = data?.spans.find(({ span }) => span === "7d")?.load_time?.p95;
  const usual = typeof p95 === "number" ? ` ${t.form.slowUsual(millis(p95, locale))}` : "";
  return (
    <>
      <FieldPair>
        <NumberInput
          {...number(form, "degraded.slow")}
          label={t.form.slow}
          description={`${t.form.slowHelp}${usual}`}
          placeholder={t.form.never}
        />
        <NumberInput
          {...number(form, "degraded.factor")}
          label={t.form.slowFactor}
          description={t.form.slowFactorHelp}
          placeholder={t.form.never}
          allowDecimal
          decimalScale={2}
        />
      </FieldPair>
      <FieldPair>
        <NumberInput {...number(form, "degraded.over")} label={t.form.slowOver} description={t.form.slowOverHelp} />
        <NumberInput {...number(form, "degraded.of")} label={t.form.slowOf} description={t.form.slowOfHelp} />
      </FieldPair>
      {form.values.regions.length > 1 && (
        <NumberInput
          {...number(form, "degraded.regions")}
          label={t.form.slowRegions}
          description={t.form.slowRegionsHelp}
          placeholder={t.form.never}
        />
      )}
      <Switch {...flag(form, "degraded.notify")} label={t.form.slowNotify} />
      <FieldPair>
        <NumberInput
          {...number(form, "slo.target")}
          label={t.form.sloTarget}
          description={t.form.sloTargetHelp}
          placeholder={t.form.sloNone}
          allowDecimal
          decimalScale={3}
        />
        <NumberInput {...number(form, "slo.days")} label={t.form.sloDays} description={t.form.sloDaysHelp} />
      </FieldPair>
      <Switch {...flag(form, "slo.degraded")} label={t.form.sloDegraded} />
    </>
  );
}

/** The monitors that it depends on. Those that are a network path stay so. */
function DependsOn({ form }: { form: MonitorForm }) {
  const t = useTexts();
  const { data: monitors = [] } = useQuery(monitorsQuery);
  const parents = form.values.depends_on;
  const choose = (ids: string[]) =>
    ids.map((monitorid) => parents.find((one) => one.monitorid === monitorid) ?? { monitorid, as: "service" as const });
  return (
    <MultiSelect
      name="depends_on"
      label={t.form.dependsOn}
      description={t.form.dependsOnHelp}
      data={monitors.map(({ monitorid, name }) => ({ value: monitorid, label: name }))}
      searchable
      value={parents.map(({ monitorid }) => monitorid)}
      error={form.errors.depends_on}
      onChange={(ids) => form.set("depends_on", choose(ids))}
    />
  );
}
