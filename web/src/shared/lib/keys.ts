/** Single keys as commands, silent while somebody types or a dialog is open. */
import { useEffect, useRef } from "react";

type Commands = Partial<Record<string, () => void>>;

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}

export function useKeys(commands: Commands) {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (document.querySelector("[role=dialog]")) return;
      const command = latest.current[event.key];
      if (!command) return;
      event.preventDefault();
      command();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
