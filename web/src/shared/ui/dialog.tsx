/** A dialog that returns the focus to its opener when it closes. */
import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { useTexts } from "../i18n";

interface Props extends Pick<ModalProps, "size" | "closeOnClickOutside" | "closeOnEscape" | "withCloseButton" | "centered" | "classNames"> {
  title: string;
  close: () => void;
  children: ReactNode;
}

/** Rendered while the dialog is open. */
export function Dialog({ title, close, children, ...others }: Props) {
  const t = useTexts();
  // Read before the dialog takes the focus.
  const [opener] = useState(focusedElement);
  useEffect(() => () => returnFocus(opener), [opener]);
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": t.common.close }} {...others}>
      {/* A dialog that a form has opened is part of that form for React, which would submit it too. */}
      <div onSubmit={(event) => event.stopPropagation()}>{children}</div>
    </Modal>
  );
}

/** The focusedElement element, or the button of the menu that contains it, since the menu closes. */
function focusedElement(): Element | null {
  const menu = document.activeElement?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  return menu ? document.getElementById(menu) : document.activeElement;
}

/** Focuses the opener, or the main content if the opener is gone. */
function returnFocus(opener: Element | null) {
  const there = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
  (there ? opener : document.getElementById("content"))?.focus({ preventScroll: true });
}
