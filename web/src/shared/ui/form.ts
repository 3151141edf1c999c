/**
 * The state of a form: values, errors, and whether it is being submitted. Field
 * errors come from the service; each is cleared when its field changes.
 */
import { useCallback, useState, type SyntheticEvent } from "react";
import { ApiError } from "../api/error";
import { useTexts } from "../i18n";
import { translate } from "../i18n/service";
import { useErrorMessage } from "./error-message";

type Errors = Partial<Record<string, string>>;

export interface Form<V> {
  values: V;
  errors: Errors;
  /** An error that concerns the form as a whole. */
  fault: string | null;
  busy: boolean;
  dirty: boolean;
  /** A method, so that a form with more fields can be passed where fewer are expected. */
  set<K extends keyof V>(field: K, value: V[K]): void;
  refuse: (errors: Errors) => void;
  submit: (event: SyntheticEvent) => void;
}

export function useForm<V extends object>(
  initial: V,
  send: (values: V, set: Form<V>["set"]) => Promise<unknown>,
  /** Client-side checks before the form is submitted. */
  check: (values: V) => Errors = () => ({}),
): Form<V> {
  const errorMessage = useErrorMessage();
  const { service } = useTexts();
  const [start] = useState(initial);
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<Errors>({});
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const set = useCallback(<K extends keyof V>(field: K, value: V[K]) => {
    setValues((old) => ({ ...old, [field]: value }));
    setErrors((old) => without(old, field as string));
    setFault(null);
  }, []);

  const refuse = (found: Errors, unseen?: () => void) => {
    setErrors(Object.fromEntries(Object.entries(found).map(([field, text]) => [field, text && translate(text, service)])));
    focusFirst(found, unseen);
  };

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (busy) return;
    const found = check(values);
    if (Object.values(found).some((text) => text !== undefined)) {
      refuse(found);
      return;
    }
    setBusy(true);
    setFault(null);
    setErrors({});
    send(values, set)
      .catch((error: unknown) => {
        const fields = error instanceof ApiError ? error.fields : {};
        if (Object.keys(fields).length > 0) refuse(fields, () => setFault(errorMessage(error)));
        else setFault(errorMessage(error));
      })
      .finally(() => setBusy(false));
  };

  return { values, errors, fault, busy, dirty: differ(start, values), set, refuse, submit };
}

/** The errors without that of a field, and those of the fields in it (`steps.0.after`). */
function without(errors: Errors, field: string): Errors {
  const isOf = (name: string) => name === field || name.startsWith(`${field}.`);
  const entries = Object.entries(errors);
  return entries.some(([name]) => isOf(name)) ? Object.fromEntries(entries.filter(([name]) => !isOf(name))) : errors;
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}

/** Focuses the first invalid field once its error is rendered; `unseen` is called if the form shows none of the errors. */
function focusFirst(errors: Errors, unseen?: () => void) {
  requestAnimationFrame(() => {
    const names = Object.keys(errors).filter((name) => errors[name] !== undefined);
    const fields = [...document.querySelectorAll<HTMLElement>("[name]")];
    const first = fields.find((field) => names.includes(field.getAttribute("name") ?? ""));
    if (first) first.focus();
    else if (!document.querySelector("[aria-invalid=true]")) unseen?.();
  });
}

/** The props of an input: `<TextInput {...text(form, "email")} />`. */
export function text<V extends object>(form: Form<V>, field: keyof V & string) {
  return {
    name: field,
    value: form.values[field] as string,
    error: form.errors[field],
    // The component library sets this itself, except for passwords.
    "aria-invalid": form.errors[field] !== undefined,
    onChange: (event: { currentTarget: { value: string } }) => form.set(field, event.currentTarget.value as V[typeof field]),
  };
}

export function flag<V extends object>(form: Form<V>, field: keyof V & string) {
  return {
    name: field,
    checked: form.values[field] as boolean,
    error: form.errors[field],
    onChange: (event: { currentTarget: { checked: boolean } }) => form.set(field, event.currentTarget.checked as V[typeof field]),
  };
}
