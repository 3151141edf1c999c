/** Single keys as commands, silent while somebody types, or a dialog or a menu is open. */
import { useEffect, useRef } from "react";

type Commands = Partial<Record<string, () => void>>;

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Nothing is typed into a box that is ticked.
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
}

/** Enter on a button or a link is that button's or link's own. */
function pressing({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof Element && target.closest("a, button, summary, [role=menuitem]") !== null;
}

export function useKeys(commands: Commands) {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || pressing(event)) return;
      if (document.querySelector("[role=dialog], [role=menu]")) return;
      const command = latest.current[event.key];
      if (!command) return;
      event.preventDefault();
      command();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
