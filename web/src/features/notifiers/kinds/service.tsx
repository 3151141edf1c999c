/** A notifier that sends to a known service. Its fields are those that the service lists in `notifier/kinds`. */
import { Button, PasswordInput, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ServiceType } from "../../../shared/api/closed-sets";
import { settingsOf } from "../../../shared/api/notifiers";
import { useTexts, type Texts } from "../../../shared/i18n";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import type { Form } from "../../../shared/ui/form";
import { Loading } from "../../../shared/ui/loading";
import { kindsQuery, type Notifier, type ServiceField } from "../data";
import styles from "../gallery.module.css";
import { keptSecrets, labelOf, savedSettings, secretsSet, storedValues, targetOf, type ServiceValues } from "../services";
import type { KindForm } from "./kind-form";

export type { ServiceValues };

export function service(type: ServiceType): KindForm<ServiceValues> {
  return {
    type,
    defaults: {},
    valuesOf: (notifier) => storedValues(type, notifier),
    bodyOf: (values) => ({ [type]: savedSettings(type, values) }),
    suggestedName: (values) => targetOf(type, values),
    Receiver: ({ form, was }) => <ServiceFields type={type} form={form} was={was} />,
  };
}

interface Props {
  type: ServiceType;
  form: Form<ServiceValues>;
  was: Notifier | undefined;
}

function ServiceFields({ type, form, was }: Props) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(kindsQuery);
  const fields = data?.find((kind) => kind.type === type)?.fields;
  return (
    <>
      <div className={styles.steps}>
        <p>{t.notifierKinds.stepsTitle}</p>
        <ol>
          {t.notifierKinds.steps[type].map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </div>
      {fields ? (
        <>
          {fields.map((field) => (
            <ServiceInput key={field.name} type={type} field={field} form={form} was={was} />
          ))}
          <ServerWarning type={type} fields={fields} form={form} was={was} />
        </>
      ) : error ? (
        <ErrorNotice error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </>
  );
}

function ServiceInput({ type, field, form, was }: Props & { field: ServiceField }) {
  const t = useTexts();
  const path = `${type}.${field.name}` as const;
  const [label, help] = labelOf(type, field, t);
  const value = form.values[path];
  const error = form.errors[path];
  const common = { name: path, label, description: help, error };
  if (field.secret)
    return <SecretInput {...common} field={field} form={form} path={path} isSet={secretsSet(was, type).includes(field.name)} />;
  if (field.type === "flag") {
    return (
      <Switch {...common} checked={(value ?? field.default) === true} onChange={(event) => form.set(path, event.currentTarget.checked)} />
    );
  }
  const shown = typeof value === "string" ? value : String(field.default);
  if (field.type === "choice") {
    const options = (field.options ?? []).map((option) => ({ value: option, label: t.notifierKinds.options[option] ?? option }));
    return (
      <Select {...common} data={options} allowDeselect={false} value={shown} onChange={(word) => word !== null && form.set(path, word)} />
    );
  }
  return (
    <TextInput
      {...common}
      value={shown}
      placeholder={String(field.default)}
      onChange={(event) => form.set(path, event.currentTarget.value)}
      inputMode={field.type === "url" ? "url" : "text"}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
    />
  );
}

interface SecretProps {
  name: string;
  label: string;
  description: string;
  error: string | undefined;
  field: ServiceField;
  form: Form<ServiceValues>;
  path: keyof ServiceValues;
  /** Whether one is stored. It is never shown. */
  isSet: boolean;
}

/** Left blank, the stored secret remains; one that is not required can be removed. */
function SecretInput({ field, form, path, isSet, label, ...props }: SecretProps) {
  const t = useTexts();
  const { notifierKinds: texts } = t;
  const value = form.values[path];
  const removed = value === null;
  return (
    <div className={styles.secretRow}>
      <PasswordInput
        {...props}
        label={label}
        value={typeof value === "string" ? value : ""}
        placeholder={removed ? texts.secretRemoved : isSet ? texts.secretSet : ""}
        onChange={({ currentTarget }) => form.set(path, currentTarget.value === "" ? undefined : currentTarget.value)}
        aria-invalid={props.error !== undefined}
        visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
        autoComplete="new-password"
        spellCheck={false}
      />
      {isSet && !field.required && (
        <Button
          variant="default"
          size="xs"
          aria-label={removed ? texts.secretKeep(label) : texts.secretRemove(label)}
          onClick={() => form.set(path, removed ? undefined : null)}
        >
          {removed ? texts.keep : t.common.remove}
        </Button>
      )}
    </div>
  );
}

/** A stored secret is bound to the server that it was entered for. */
function ServerWarning({ type, fields, form, was }: Props & { fields: readonly ServiceField[] }) {
  const t = useTexts();
  const kept = was && settingsOf(was) ? keptSecrets(type, fields, form.values, was) : [];
  if (kept.length === 0) return null;
  return (
    <p className={styles.warning} role="status">
      {t.notifierKinds.serverChanged(names(type, kept, t))}
    </p>
  );
}

function names(type: ServiceType, fields: readonly ServiceField[], t: Texts): string {
  return fields.map((field) => labelOf(type, field, t)[0]).join(", ");
}
