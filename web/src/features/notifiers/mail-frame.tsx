/**
 * A mail as it will look, in a frame of its own that runs no scripts. The content
 * security policy allows no inline styles, which mails consist of, so they are
 * applied one by one through the object model.
 */
import { useEffect, useRef, useState } from "react";
import styles from "./notifiers.module.css";

/** A document in standards mode, which the mail is put into. */
const EMPTY = '<!doctype html><html lang="en"><title>Mail</title><body></body></html>';

export function MailFrame({ html, title }: { html: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  useEffect(() => {
    const { current } = frame;
    if (!ready || !current?.contentDocument) return;
    show(current.contentDocument, html);
    current.style.height = `${current.contentDocument.documentElement.scrollHeight}px`;
  }, [ready, html]);
  return (
    <iframe ref={frame} className={styles.mail} title={title} sandbox="allow-same-origin" srcDoc={EMPTY} onLoad={() => setReady(true)} />
  );
}

function show(inside: Document, html: string) {
  const mail = new DOMParser().parseFromString(inert(html), "text/html");
  inside.adoptedStyleSheets = sheetsOf(mail, inside);
  inside.body.className = mail.body.className;
  inside.body.dataset.style = mail.body.dataset.style ?? "";
  inside.body.replaceChildren(...[...mail.body.childNodes].map((node) => inside.importNode(node, true)));
  // A link would open inside the frame.
  for (const link of inside.querySelectorAll("a")) link.removeAttribute("href");
  for (const element of inside.querySelectorAll<HTMLElement>("[data-style]")) element.style.cssText = element.dataset.style ?? "";
}

/** The HTML with its styles set aside, so that the parser does not report them as violations. */
function inert(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, (tag) => tag.replace(/\sstyle=/gi, " data-style="))
    .replaceAll(/<style>([\s\S]*?)<\/style>/gi, "<template data-css>$1</template>");
}

function sheetsOf(mail: Document, inside: Document): CSSStyleSheet[] {
  const Sheet = inside.defaultView?.CSSStyleSheet;
  if (!Sheet) return [];
  return [...mail.querySelectorAll<HTMLTemplateElement>("template[data-css]")].map((template) => {
    const sheet = new Sheet();
    sheet.replaceSync(template.content.textContent);
    return sheet;
  });
}
