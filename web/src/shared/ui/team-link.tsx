/**
 * A link to something that the browser itself fetches, such as an export. The browser cannot name the team of the tab,
 * so the session is switched to it first; other tabs are not affected, since their calls name theirs.
 */
import type { ComponentProps, MouseEvent } from "react";
import { POST, unwrap } from "../api/client";
import { useMe } from "../api/session";
import { useErrorMessage } from "./error-message";
import { showToast } from "./toast";

interface Props extends ComponentProps<"a"> {
  href: string;
}

export function TeamLink({ onClick, ...props }: Props) {
  const { groupid } = useMe();
  const errorMessage = useErrorMessage();
  const follow = async ({ href, target, download }: HTMLAnchorElement) => {
    // Opened at once: later, the browser would block it.
    const opened = target === "_blank" ? window.open("", "_blank") : null;
    try {
      await unwrap(POST("/api/v1/team/switch", { body: { groupid } }));
      if (opened) opened.location.replace(href);
      else Object.assign(document.createElement("a"), { href, download }).click();
    } catch (error) {
      opened?.close();
      showToast(errorMessage(error), true);
    }
  };
  const click = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    event.preventDefault();
    void follow(event.currentTarget);
  };
  return <a {...props} onClick={click} />;
}
