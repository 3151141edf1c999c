/** Asks for confirmation, optionally by typing a name. */
import { Button, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useTexts } from "../i18n";
import styles from "./confirm.module.css";
import { Dialog } from "./dialog";
import { useErrorMessage } from "./error-message";
import { FormError } from "./error-notice";

interface Props {
  title: string;
  children: ReactNode;
  action: string;
  /** The label of the other button. */
  cancel?: string;
  /** The text to type before the action is enabled. */
  typed?: string;
  run: () => Promise<void>;
  close: () => void;
}

/** Rendered while the dialog is open. */
export function Confirm({ title, children, action, cancel, typed, run, close }: Props) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const ready = typed === undefined || text.trim() === typed.trim();
  const go = async () => {
    setBusy(true);
    try {
      await run();
      close();
    } catch (error) {
      setFault(errorMessage(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void go();
        }}
      >
        <div className={styles.words}>{children}</div>
        {typed !== undefined && (
          <TextInput
            label={t.common.typeName(typed)}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <FormError text={fault} />
        <div className={styles.buttons}>
          <Button variant="default" onClick={close}>
            {cancel ?? t.common.cancel}
          </Button>
          <Button type="submit" color="red" disabled={!ready} loading={busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
