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
  /** Red unless it can be undone easily. */
  color?: string;
  /** The label of the other button. */
  cancel?: string;
  /** The text to type before the action is enabled; of a long one, only its beginning. */
  typed?: string;
  run: () => Promise<void>;
  close: () => void;
}

/** How much of a name has to be typed. */
const MAX_TYPED = 30;

/** The first characters of a name, without splitting one of several code units. */
function beginningOf(name: string): string {
  return Array.from(name.trim()).slice(0, MAX_TYPED).join("").trim();
}

/** Rendered while the dialog is open. */
export function Confirm({ title, children, action, color = "red", cancel, typed, run, close }: Props) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const wanted = typed === undefined ? "" : beginningOf(typed);
  const ready = text.trim() === wanted || text.trim() === typed?.trim();
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
            label={t.common.typeName(wanted)}
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
          <Button type="submit" color={color} disabled={!ready} loading={busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
