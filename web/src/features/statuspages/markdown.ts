/**
 * The Markdown of incidents as a tree, for what is shown while it is written. The pages themselves are rendered by the
 * service, which knows all of CommonMark; these are the parts that people use in an update. Nothing of it is HTML.
 */

export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "break" }
  | { type: "strong" | "emphasis"; children: Inline[] }
  | { type: "link"; href: string; children: Inline[] };

export type Block =
  | { type: "paragraph" | "heading" | "quote"; children: Inline[] }
  | { type: "list"; ordered: boolean; items: Inline[][] }
  | { type: "code"; text: string }
  | { type: "rule" };

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}#{1,6}(?:\s+(.*?))?\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^ {0,3}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

/** Whether a line ends the paragraph before it. */
const isBlock = (line: string) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));

export function parseMarkdown(text: string): Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  /** The lines from here on for which the condition holds. */
  const take = (isPart: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && isPart(lines[at] ?? "")) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const [, fence] = FENCE.exec(line) ?? [];
    const heading = HEADING.exec(line);
    if (line.trim() === "") at++;
    else if (fence !== undefined) {
      at++;
      const code = take((one) => !one.trimStart().startsWith(fence));
      at++;
      blocks.push({ type: "code", text: code.join("\n") });
    } else if (RULE.test(line)) {
      at++;
      blocks.push({ type: "rule" });
    } else if (heading) {
      at++;
      blocks.push({ type: "heading", children: parseInline(heading[1] ?? "") });
    } else if (QUOTE.test(line)) {
      const quoted = take((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, ""));
      blocks.push({ type: "quote", children: parseInline(quoted.join("\n")) });
    } else if (ITEM.test(line)) {
      blocks.push(listOf(take((one) => one.trim() !== "" && !RULE.test(one))));
    } else {
      const first = at;
      blocks.push({
        type: "paragraph",
        children: parseInline(take((one) => at === first || (one.trim() !== "" && !isBlock(one))).join("\n")),
      });
    }
  }
  return blocks;
}

/** The items of a list; a line that is none continues the one before it. */
function listOf(lines: readonly string[]): Block {
  const items: string[] = [];
  for (const line of lines) {
    const found = ITEM.exec(line.trimStart());
    if (found) items.push(found[2] ?? "");
    else items.push(`${items.pop() ?? ""}\n${line.trim()}`);
  }
  return { type: "list", ordered: /^\s*\d/.test(lines[0] ?? ""), items: items.map(parseInline) };
}

/** In the order in which they are tried at each place. All are limited, so that a text of any form is parsed in a short time. */
const SPANS =
  /\\([!-/:-@[-`{-~])|(`+)(.{1,1000}?)\2(?!`)|\[([^\]\n]{1,1000})\]\(([^\s()]{1,2000})\)|<((?:https?:\/\/|mailto:)[^\s<>]+)>|(\*\*|__)(?=\S)(.{1,2000}?)(?<=\S)\7(?![*_])|(\*|_)(?=\S)(.{1,2000}?)(?<=\S)\9|( {2,}|\\)\n/s;

function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  let rest = text;
  while (rest !== "") {
    const found = SPANS.exec(rest);
    if (!found) break;
    const [whole, escaped, , code, label, target, address, , strong, mark, emphasis] = found;
    const before = rest.slice(0, found.index);
    // `snake_case_name` has no emphasis.
    const isInWord = mark === "_" && (/\w$/.test(before) || /^\w/.test(rest.slice(found.index + whole.length)));
    if (before !== "") parts.push({ type: "text", text: before });
    if (isInWord) parts.push({ type: "text", text: whole });
    else if (escaped !== undefined) parts.push({ type: "text", text: escaped });
    else if (code !== undefined) parts.push({ type: "code", text: code.trim() });
    else if (label !== undefined && target !== undefined) parts.push(linkOf(target, parseInline(label)));
    else if (address !== undefined) parts.push(linkOf(address, [{ type: "text", text: address }]));
    else if (strong !== undefined) parts.push({ type: "strong", children: parseInline(strong) });
    else if (emphasis !== undefined) parts.push({ type: "emphasis", children: parseInline(emphasis) });
    else parts.push({ type: "break" });
    rest = rest.slice(found.index + whole.length);
  }
  if (rest !== "") parts.push({ type: "text", text: rest });
  return parts;
}

/** Only these lead somewhere; the text of any other is shown in its place. */
function linkOf(href: string, children: Inline[]): Inline {
  return /^(https?:\/\/|mailto:)/i.test(href) ? { type: "link", href, children } : { type: "emphasis", children };
}
