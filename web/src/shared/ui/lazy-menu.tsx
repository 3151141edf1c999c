/** A button whose menu is loaded, and rendered, when it is opened for the first time. */
import { Suspense, useState, type ReactElement, type ReactNode } from "react";

interface ButtonProps {
  "aria-haspopup"?: "menu";
  onClick?: () => void;
}

interface Props {
  button: (props: ButtonProps) => ReactElement;
  /** The menu, which is open at first and renders the button. */
  menu: (button: ReactElement) => ReactNode;
}

export function LazyMenu({ button, menu }: Props) {
  const [opened, setOpened] = useState(false);
  const closed = button({ "aria-haspopup": "menu", onClick: () => setOpened(true) });
  return opened ? <Suspense fallback={closed}>{menu(button({}))}</Suspense> : closed;
}
