/** The text of an incident as visitors read it. */
import { Fragment, type ReactNode } from "react";
import { parseMarkdown, type Block, type Inline } from "./markdown";
import styles from "./statuspages.module.css";

export function RenderedText({ text }: { text: string }) {
  return (
    <div className={styles.markdown}>
      {parseMarkdown(text).map((block, place) => (
        <Fragment key={place}>{blockOf(block)}</Fragment>
      ))}
    </div>
  );
}

function blockOf(block: Block): ReactNode {
  switch (block.type) {
    case "paragraph":
      return <p>{spans(block.children)}</p>;
    // The page has headings of its own.
    case "heading":
      return (
        <p>
          <b>{spans(block.children)}</b>
        </p>
      );
    case "quote":
      return <blockquote>{spans(block.children)}</blockquote>;
    case "code":
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      );
    case "rule":
      return <hr />;
    case "list": {
      const items = block.items.map((item, place) => <li key={place}>{spans(item)}</li>);
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function spans(parts: readonly Inline[]): ReactNode {
  return parts.map((part, place) => <Fragment key={place}>{spanOf(part)}</Fragment>);
}

function spanOf(part: Inline): ReactNode {
  switch (part.type) {
    case "text":
      return part.text;
    case "code":
      return <code>{part.text}</code>;
    case "break":
      return <br />;
    case "strong":
      return <b>{spans(part.children)}</b>;
    case "emphasis":
      return <em>{spans(part.children)}</em>;
    case "link":
      return (
        <a href={part.href} target="_blank" rel="nofollow noopener">
          {spans(part.children)}
        </a>
      );
  }
}
