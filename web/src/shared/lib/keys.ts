/** Keyboard shortcuts. Single keys are ignored while the user is typing or a dialog or menu is open. */
import { useEffect, useRef } from "react";

type Commands = Partial<Record<string, () => void>>;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // A checkbox takes no text.
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
}

/** Enter on a focused button or link activates that element instead. */
function isActivating({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof Element && target.closest("a, button, summary, [role=menuitem]") !== null;
}

export function useKeys(commands: Commands) {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isActivating(event)) return;
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

/** A shortcut with Ctrl or Cmd, which also works while the user is typing. */
export function useModifiedKey(key: string, command: () => void) {
  const latest = useRef(command);
  useEffect(() => {
    latest.current = command;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== key) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [key]);
}
