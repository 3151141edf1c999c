/** The layout of a form: fields, form error, submit and cancel buttons. */
import { Button, PasswordInput, TextInput, type PasswordInputProps, type TextInputProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../i18n";
import { FormError } from "./error-notice";
import { text, type Form } from "./form";
import styles from "./form-layout.module.css";

interface Props<V> {
  form: Form<V>;
  action: string;
  /** Without it, the submit button has the full width. */
  cancel?: () => void;
  /** The label of the other button. */
  cancelLabel?: string;
  color?: string;
  disabled?: boolean;
  after?: ReactNode;
  children?: ReactNode;
}

export function FormLayout<V>({ form, action, cancel, cancelLabel, color, disabled = false, after, children }: Props<V>) {
  const t = useTexts();
  return (
    <form className={styles.sheet} onSubmit={form.submit} noValidate>
      {children}
      <FormError text={form.fault} />
      {cancel ? (
        <div className={styles.buttons}>
          <Button variant="default" onClick={cancel}>
            {cancelLabel ?? t.common.cancel}
          </Button>
          <Button type="submit" color={color} loading={form.busy} disabled={disabled}>
            {action}
          </Button>
        </div>
      ) : (
        <Button type="submit" size="md" loading={form.busy} disabled={disabled}>
          {action}
        </Button>
      )}
      {after}
    </form>
  );
}

type FieldOf<V, P> = { form: Form<V>; field: keyof V & string } & Omit<P, "form">;

/** A required field; nearly all of them are, so there is no asterisk. */
export function RequiredField<V extends object>({ form, field, ...props }: FieldOf<V, TextInputProps>) {
  return <TextInput {...text(form, field)} required withAsterisk={false} {...props} />;
}

export function PasswordField<V extends object>({ form, field, ...props }: FieldOf<V, PasswordInputProps>) {
  const t = useTexts();
  return (
    <PasswordInput {...text(form, field)} visibilityToggleButtonProps={{ "aria-label": t.auth.show }} withAsterisk={false} {...props} />
  );
}

/** Two fields side by side, if there is room. */
export function FieldPair({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <div className={styles.pair} data-wide={wide || undefined}>
      {children}
    </div>
  );
}

/** Content of a dialog that is not a form, with the same distances. */
export function Rows({ children }: { children: ReactNode }) {
  return <div className={styles.sheet}>{children}</div>;
}

export function ButtonRow({ children }: { children: ReactNode }) {
  return <div className={styles.buttons}>{children}</div>;
}
