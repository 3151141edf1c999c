/** A menu opened by a button, which gets the focus back unless the chosen item took it. */
import { Menu, type MenuProps } from "@mantine/core";
import { useRef, type ReactElement, type ReactNode } from "react";

interface Props extends Pick<MenuProps, "position" | "width" | "defaultOpened"> {
  button: ReactElement;
  children: ReactNode;
}

export function ActionMenu({ button, children, position = "bottom-end", width = 190, defaultOpened = false }: Props) {
  const opener = useRef<HTMLElement>(null);
  // The component library would return the focus after 10 ms, out of a dialog opened by an item.
  const closed = () => {
    const at = document.activeElement;
    if (!at || at === document.body || at.closest("[role=menu]")) opener.current?.focus({ preventScroll: true });
  };
  return (
    <Menu
      position={position}
      width={width}
      defaultOpened={defaultOpened}
      shadow="md"
      returnFocus={false}
      onExitTransitionEnd={closed}
      // Within the landmark of the page.
      portalProps={{ target: "#content" }}
    >
      <Menu.Target ref={opener}>{button}</Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
