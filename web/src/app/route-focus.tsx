/**
 * After each change of the route, moves the focus to the new page and announces its
 * title, as a browser does for a new document. A page that has focused one of its own
 * elements keeps the focus there.
 */
import { useEffect, useRef, useState } from "react";
import { useLocation } from "../shared/router";

export function RouteFocus() {
  const { pathname } = useLocation();
  const [announced, setAnnounced] = useState("");
  const last = useRef<{ path: string; moved: boolean }>({ path: pathname, moved: false });
  useEffect(() => {
    if (last.current.path === pathname) return;
    last.current = { path: pathname, moved: true };
    focusPage();
  }, [pathname]);
  // A page may get its title later, when its data is loaded.
  useEffect(() => {
    const element = document.querySelector("title");
    if (!element) return;
    const observer = new MutationObserver(() => last.current.moved && setAnnounced(titleOf(document.title)));
    observer.observe(element, { childList: true });
    return () => observer.disconnect();
  }, []);
  return (
    <p className="sr-only" aria-live="polite" data-announced>
      {announced}
    </p>
  );
}

/** Without the number of monitors that are down: when it changes, the page does not. */
function titleOf(title: string): string {
  return title.replace(/^\(\d+\) /, "");
}

function focusPage() {
  const main = document.querySelector("main");
  const focused = document.activeElement;
  if (!main || main.contains(focused) || focused?.closest("[role=dialog]")) return;
  main.tabIndex = -1;
  main.focus({ preventScroll: true });
}
