/** Creates an API key pair and shows both keys, once. */
import { Button, NativeSelect } from "@mantine/core";
import { useState } from "react";
import type { NewApiKey, Scope } from "../api/api-keys";
import { useTeam } from "../api/teams";
import { useTexts } from "../i18n";
import { CopyLine } from "./copy-line";
import { Dialog } from "./dialog";
import { useForm } from "./form";
import { ButtonRow, FormLayout, RequiredField, Rows } from "./form-layout";
import { filterFields, filterValues, type FilterValues } from "./monitor-filter";
import { MonitorFilterField } from "./monitor-filter-field";

type Values = FilterValues & { name: string; scope: Scope; expires: string };
type KeyPair = { apikey: string; enckey: string };

const SCOPES: readonly Scope[] = ["full", "editor", "responder", "viewer", "push", "audit"];
/** They are not about single monitors. */
const UNFILTERED: readonly Scope[] = ["full", "audit"];
const DAYS = [7, 30, 90, 365];

interface Props {
  title: string;
  /** What the scope `full` includes, which depends on the holder. */
  fullScope: string;
  scopeHelp: string;
  /** Whether the holder may read the audit log. */
  audits: boolean;
  create: (key: NewApiKey) => Promise<Partial<KeyPair>>;
  created: () => Promise<void>;
  close: () => void;
}

export function NewApiKeyDialog({ title, fullScope, scopeHelp, audits, create, created, close }: Props) {
  const t = useTexts();
  // The most days that the team allows; 0 for no limit.
  const { key_days: max = 0 } = useTeam() ?? {};
  const [pair, setPair] = useState<KeyPair | null>(null);
  const form = useForm<Values>({ name: "", scope: "full", expires: "", ...filterValues() }, async ({ name, scope, expires, ...limit }) => {
    const limited = !UNFILTERED.includes(scope) && filterFields(limit);
    const { apikey = "", enckey = "" } = await create({ name, scope, ...(expires && { expires }), ...limited });
    setPair({ apikey, enckey });
    await created();
  });
  const scopes = { ...t.apiKeys.scopes, full: fullScope };
  return (
    <Dialog
      title={pair ? t.apiKeys.createdTitle(form.values.name) : title}
      close={close}
      size={pair ? "lg" : "md"}
      // The keys are shown only once, so the dialog does not close by accident.
      closeOnClickOutside={!pair}
      closeOnEscape={!pair}
      withCloseButton={!pair}
    >
      {pair ? (
        <ShownOnce pair={pair} close={close} />
      ) : (
        <FormLayout form={form} action={t.apiKeys.create} cancel={close}>
          <RequiredField
            form={form}
            field="name"
            label={t.apiKeys.name}
            description={t.apiKeys.nameHelp}
            autoComplete="off"
            data-autofocus
          />
          <NativeSelect
            name="scope"
            label={t.apiKeys.scope}
            description={scopeHelp}
            error={form.errors["scope"]}
            data={SCOPES.filter((scope) => audits || scope !== "audit").map((scope) => ({ value: scope, label: scopes[scope] }))}
            value={form.values.scope}
            onChange={(event) => form.set("scope", event.currentTarget.value as Scope)}
          />
          {!UNFILTERED.includes(form.values.scope) && <MonitorFilterField form={form} />}
          <NativeSelect
            name="expires"
            label={t.apiKeys.expires}
            error={form.errors["expires"]}
            data={[
              { value: "", label: max === 0 ? t.apiKeys.never : t.apiKeys.inDays(max) },
              ...DAYS.filter((days) => max === 0 || days < max).map((days) => ({ value: `${days}`, label: t.apiKeys.inDays(days) })),
            ]}
            value={form.values.expires}
            onChange={(event) => form.set("expires", event.currentTarget.value)}
          />
        </FormLayout>
      )}
    </Dialog>
  );
}

function ShownOnce({ pair, close }: { pair: KeyPair; close: () => void }) {
  const t = useTexts();
  return (
    <Rows>
      <p>{t.apiKeys.once}</p>
      <CopyLine label="X-API-Key" value={pair.apikey} />
      <CopyLine label="X-Enc-Key" value={pair.enckey} />
      <CopyLine label={t.apiKeys.curl} value={curl(pair)} wrap />
      <ButtonRow>
        <Button onClick={close}>{t.apiKeys.saved}</Button>
      </ButtonRow>
    </Rows>
  );
}

function curl({ apikey, enckey }: KeyPair): string {
  return [`curl ${window.location.origin}/api/v1/monitors`, `-H "X-API-Key: ${apikey}"`, `-H "X-Enc-Key: ${enckey}"`].join(" \\\n  ");
}
