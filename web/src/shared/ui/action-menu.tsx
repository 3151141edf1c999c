/** A menu behind a button, which gets the focus back unless what was chosen took it. */
import { Menu, type MenuProps } from "@mantine/core";
import { useRef, type ReactElement, type ReactNode } from "react";

interface Props extends Pick<MenuProps, "position" | "width"> {
  button: ReactElement;
  children: ReactNode;
}

export function ActionMenu({ button, children, position = "bottom-end", width = 190 }: Props) {
  const opener = useRef<HTMLElement>(null);
  // The component library would take the focus back after 10 ms, out of a dialog that an item opened.
  const closed = () => {
    const at = document.activeElement;
    if (!at || at === document.body || at.closest("[role=menu]")) opener.current?.focus({ preventScroll: true });
  };
  return (
    <Menu position={position} width={width} shadow="md" returnFocus={false} onExitTransitionEnd={closed}>
      <Menu.Target ref={opener}>{button}</Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
