/** A menu opened by a button, which gets the focus back unless the chosen item took it. */
import { Menu, type MenuProps } from "@mantine/core";
import { useRef, type ReactElement, type ReactNode } from "react";

interface Props extends Pick<MenuProps, "position" | "width"> {
  button: ReactElement;
  children: ReactNode;
}

export function ActionMenu({ button, children, position = "bottom-end", width = 190 }: Props) {
  const opener = useRef<HTMLElement>(null);
  // The component library would return the focus after 10 ms, out of a dialog opened by an item.
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
