/** A form as all of them are: fields, what is wrong with the whole, the way on and the way back. */
import { Button, PasswordInput, TextInput, type PasswordInputProps, type TextInputProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../text";
import { text, type Form } from "./form";
import { Fault } from "./parts";
import styles from "./sheet.module.css";

interface Props<V> {
  form: Form<V>;
  action: string;
  /** The way back; without one the button takes the whole width. */
  cancel?: () => void;
  color?: string;
  disabled?: boolean;
  after?: ReactNode;
  children: ReactNode;
}

export function Sheet<V>({ form, action, cancel, color, disabled = false, after, children }: Props<V>) {
  const t = useTexts();
  return (
    <form className={styles.sheet} onSubmit={form.submit} noValidate>
      {children}
      <Fault text={form.fault} />
      {cancel ? (
        <div className={styles.buttons}>
          <Button variant="default" onClick={cancel}>
            {t.common.cancel}
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

/** A field that must be filled; an asterisk would say so of all of them. */
export function Needed<V extends object>({ form, field, ...props }: FieldOf<V, TextInputProps>) {
  return <TextInput {...text(form, field)} required withAsterisk={false} {...props} />;
}

export function Password<V extends object>({ form, field, ...props }: FieldOf<V, PasswordInputProps>) {
  const t = useTexts();
  return (
    <PasswordInput
      {...text(form, field)}
      visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
      withAsterisk={false}
      {...props}
    />
  );
}

/** Two fields beside each other, where there is room. */
export function Pair({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <div className={styles.pair} data-wide={wide || undefined}>
      {children}
    </div>
  );
}

export function Buttons({ children }: { children: ReactNode }) {
  return <div className={styles.buttons}>{children}</div>;
}
