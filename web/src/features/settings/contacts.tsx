/** How the user is notified by escalation steps and assignments, and a calendar of their shifts. */
import { Button, Select } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { severities } from "../../shared/api/alerting-sets";
import { GET, POST, unwrap } from "../../shared/api/client";
import { find, type Severity } from "../../shared/api/closed-sets";
import { notifiersQuery, personalNotifiersQuery } from "../../shared/api/notifiers";
import type { components } from "../../shared/api/schema";
import { useMay, useMe } from "../../shared/api/session";
import { useTexts, type Texts } from "../../shared/i18n";
import { CalendarFeed } from "../../shared/ui/calendar-feed";
import { DurationInput, durationOf, durationText } from "../../shared/ui/duration-input";
import { ErrorNotice, FormError } from "../../shared/ui/error-notice";
import { useForm, type Form } from "../../shared/ui/form";
import { Plus } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { SortableList } from "../../shared/ui/sortable-list";
import { showToast } from "../../shared/ui/toast";
import { PushPanel } from "./push-panel";
import styles from "./settings.module.css";

type Stored = components["schemas"]["Contacts"];

interface RuleValues {
  /** Identifies it in the form while its place changes. */
  key: string;
  notifierid: string;
  /** A duration, as typed; empty for none. */
  after: string;
  min_severity: Severity;
}

interface Values {
  rules: RuleValues[];
}

/** An email to the address of the account. */
const ACCOUNT = "account";
const MAX_RULES = 20;

const contactsQuery = queryOptions({
  queryKey: ["contacts"],
  queryFn: ({ signal }): Promise<Stored> => unwrap(GET("/api/v1/contacts", { signal })),
});

export function Contacts() {
  const { contacts } = useTexts();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(contactsQuery);
  // The form begins again with the contacts that the switch has changed.
  const [changes, setChanges] = useState(0);
  const has = (notifierid: string) => data?.rules.some((rule) => rule.notifierid === notifierid) ?? false;
  const addContact = async (notifierid: string) => {
    await client.invalidateQueries({ queryKey: personalNotifiersQuery.queryKey });
    if (!data || has(notifierid) || data.rules.length >= MAX_RULES) return;
    const rules = [...data.rules, { notifierid, after: 0, min_severity: "info" as const }];
    client.setQueryData(contactsQuery.queryKey, await unwrap(POST("/api/v1/contacts/save", { body: { rules } })));
    setChanges(changes + 1);
  };
  return (
    <>
      <Panel id="contacts" title={contacts.title} lead={contacts.lead}>
        {!data && (error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />)}
        {data && <Rules key={changes} stored={data} />}
      </Panel>
      {data && <PushPanel addContact={addContact} isContact={has} />}
      {data && (
        <Panel title={contacts.feed}>
          <CalendarFeed
            help={contacts.feedHelp}
            exists={data.feed}
            create={async () => {
              const { url } = await unwrap(POST("/api/v1/contacts/feed"));
              client.setQueryData(contactsQuery.queryKey, (old) => old && { ...old, feed: true });
              return url;
            }}
          />
        </Panel>
      )}
    </>
  );
}

let made = 0;

const valuesOf = ({ rules }: Stored): Values => ({
  rules: rules.map(({ notifierid, after, min_severity }) => ({
    key: String(made++),
    notifierid,
    after: durationText(after),
    min_severity,
  })),
});

function check({ rules }: Values, t: Texts): Record<string, string> {
  const found: Record<string, string> = {};
  rules.forEach(({ after }, place) => {
    if (durationOf(after) === null) found[`rules.${place}.after`] = t.form.durationInvalid;
  });
  return found;
}

function Rules({ stored }: { stored: Stored }) {
  const t = useTexts();
  const { contacts } = t;
  const client = useQueryClient();
  const [start] = useState(() => valuesOf(stored));
  const form = useForm(
    start,
    async ({ rules }) => {
      const body = rules.map(({ notifierid, after, min_severity }) => ({ notifierid, after: durationOf(after) ?? 0, min_severity }));
      client.setQueryData(contactsQuery.queryKey, await unwrap(POST("/api/v1/contacts/save", { body: { rules: body } })));
      showToast(contacts.saved);
    },
    (values) => check(values, t),
  );
  const { rules } = form.values;
  return (
    <form className={styles.form} onSubmit={form.submit} noValidate>
      <SortableList
        label={contacts.title}
        items={rules}
        keyOf={({ key }) => key}
        nameOf={(_, place) => contacts.way(place + 1)}
        change={(items) => form.set("rules", items)}
      >
        {(rule, place) => <RuleFields form={form} rule={rule} place={place} />}
      </SortableList>
      <FormError text={form.fault ?? form.errors.rules ?? null} />
      <div className={styles.contactButtons}>
        {rules.length < MAX_RULES && (
          <Button
            variant="default"
            leftSection={<Plus />}
            onClick={() =>
              form.set("rules", [...rules, { key: String(made++), notifierid: ACCOUNT, after: durationText(300), min_severity: "info" }])
            }
          >
            {contacts.add}
          </Button>
        )}
        <Button type="submit" loading={form.busy}>
          {contacts.save}
        </Button>
      </div>
    </form>
  );
}

function RuleFields({ form, rule, place }: { form: Form<Values>; rule: RuleValues; place: number }) {
  const t = useTexts();
  const { contacts } = t;
  const { rules } = form.values;
  const { email, userid } = useMe();
  const { data: notifiers = [] } = useQuery({ ...notifiersQuery, enabled: useMay("view") });
  const { data: personal = [] } = useQuery({ ...personalNotifiersQuery, enabled: useMay("view") });
  // The personal notifiers of others are theirs.
  const own = [...notifiers.filter(({ account }) => !account || account.userid === userid), ...personal];
  const choices = [
    { value: ACCOUNT, label: contacts.account(email) },
    ...own.map(({ notifierid, name, type }) => ({ value: notifierid, label: type === "webpush" ? t.notifiers.kinds.webpush : name })),
  ];
  const known = choices.some(({ value }) => value === rule.notifierid);
  const set = (part: Partial<RuleValues>) =>
    form.set(
      "rules",
      rules.map((one) => (one.key === rule.key ? { ...one, ...part } : one)),
    );
  return (
    <fieldset className={styles.contact}>
      <legend className="sr-only">{contacts.way(place + 1)}</legend>
      <Select
        name={`rules.${place}.notifierid`}
        label={contacts.by}
        data={known ? choices : [...choices, { value: rule.notifierid, label: contacts.deleted }]}
        allowDeselect={false}
        searchable
        value={rule.notifierid}
        error={form.errors[`rules.${place}.notifierid`]}
        onChange={(value) => value !== null && set({ notifierid: value })}
      />
      <DurationInput
        name={`rules.${place}.after`}
        label={contacts.after}
        placeholder={t.escalation.atOnce}
        value={rule.after}
        error={form.errors[`rules.${place}.after`]}
        change={(after) => set({ after })}
      />
      <Select
        name={`rules.${place}.min_severity`}
        label={contacts.from}
        data={severities.map((value) => ({ value, label: contacts.atLeast[value] }))}
        allowDeselect={false}
        value={rule.min_severity}
        error={form.errors[`rules.${place}.min_severity`]}
        onChange={(word) => set({ min_severity: find(severities, word) ?? rule.min_severity })}
      />
      {rules.length > 1 && (
        <Button
          variant="subtle"
          color="red"
          size="xs"
          aria-label={contacts.remove(place + 1)}
          onClick={() =>
            form.set(
              "rules",
              rules.filter(({ key }) => key !== rule.key),
            )
          }
        >
          {t.common.remove}
        </Button>
      )}
    </fieldset>
  );
}
