/** A dialog. When it closes, the focus is where it was before, for whoever works by keyboard. */
import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { useTexts } from "../i18n";

interface Props extends Pick<ModalProps, "size" | "closeOnClickOutside" | "closeOnEscape" | "withCloseButton"> {
  title: string;
  close: () => void;
  children: ReactNode;
}

/** Rendered while it is open. */
export function Dialog({ title, close, children, ...others }: Props) {
  const t = useTexts();
  // Looked at before the dialog itself takes the focus.
  const [opener] = useState(focused);
  useEffect(() => () => giveBack(opener), [opener]);
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": t.common.close }} {...others}>
      {children}
    </Modal>
  );
}

/** What has the focus; of a menu, which closes behind its dialog, the button that opened it. */
function focused(): Element | null {
  const menu = document.activeElement?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  return menu ? document.getElementById(menu) : document.activeElement;
}

/** To the opener, or to the view where it went with what the dialog was about. */
function giveBack(opener: Element | null) {
  const there = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
  (there ? opener : document.getElementById("content"))?.focus({ preventScroll: true });
}
