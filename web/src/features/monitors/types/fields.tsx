/** Fields that several monitor types have, and the props of number, duration and choice fields. */
import { TextInput } from "@mantine/core";
import { find } from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { formatDuration, parseDuration } from "../../../shared/lib/duration";
import { text, type Form } from "../../../shared/ui/form";

/** The fields of V whose values are of type T. */
export type FieldsOf<V, T> = { [K in keyof V]: V[K] extends T ? K : never }[keyof V] & string;

/** A number field; empty means the default of the service. */
export function number<V extends object, F extends FieldsOf<V, number | "">>(form: Form<V>, field: F) {
  return {
    name: field,
    value: form.values[field] as number | "",
    error: form.errors[field],
    onChange: (value: number | string) => form.set(field, (typeof value === "number" ? value : "") as V[F]),
    min: 0,
    // Values out of range are rejected with a message instead of being changed silently.
    clampBehavior: "none" as const,
    allowDecimal: false,
    allowNegative: false,
    hideControls: true,
  };
}

/** A duration as text; when it is complete, the field shows what was understood. */
export function duration<V extends object>(form: Form<V>, field: FieldsOf<V, string>) {
  const props = text(form, field);
  return {
    ...props,
    autoComplete: "off",
    onBlur: () => {
      const seconds = parseDuration(props.value);
      if (seconds !== null) form.set(field, formatDuration(seconds) as V[typeof field]);
    },
  };
}

/** A field for one value of a closed set. */
export function choice<V extends object, F extends FieldsOf<V, string>>(form: Form<V>, field: F, values: readonly (V[F] & string)[]) {
  return {
    name: field,
    value: form.values[field] as string,
    error: form.errors[field],
    onChange: (word: string | null) => {
      const value = find(values, word);
      if (value !== undefined) form.set(field, value);
    },
    allowDeselect: false,
  };
}

export function Host<V extends { hostname: string }>({ form, help }: { form: Form<V>; help: string }) {
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
