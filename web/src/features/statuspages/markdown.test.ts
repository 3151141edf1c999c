import { expect, test } from "vitest";
import { parseMarkdown } from "./markdown";

const text = (words: string) => ({ type: "text", text: words });

test("paragraphs, headings, lists, quotes, code and rules are blocks", () => {
  const blocks = parseMarkdown("# Title\nOne\ntwo\n- a\n- b\n  c\n\n1. x\n\n> said\n\n---\n```\n**raw**\n```\nend");
  expect(blocks).toEqual([
    { type: "heading", children: [text("Title")] },
    { type: "paragraph", children: [text("One\ntwo")] },
    { type: "list", ordered: false, items: [[text("a")], [text("b\nc")]] },
    { type: "list", ordered: true, items: [[text("x")]] },
    { type: "quote", children: [text("said")] },
    { type: "rule" },
    { type: "code", text: "**raw**" },
    { type: "paragraph", children: [text("end")] },
  ]);
});

test("spans nest, and what is escaped or in a word is text", () => {
  const [block] = parseMarkdown("**a *b*** `c*d*` \\*e\\* snake_case_name 2 * 3 * 4");
  expect(block).toEqual({
    type: "paragraph",
    children: [
      { type: "strong", children: [text("a "), { type: "emphasis", children: [text("b")] }] },
      text(" "),
      { type: "code", text: "c*d*" },
      text(" "),
      text("*"),
      text("e"),
      text("*"),
      text(" snake"),
      text("_case_"),
      text("name 2 * 3 * 4"),
    ],
  });
});

test("links lead to web pages and addresses only, and HTML stays text", () => {
  const hrefs = (source: string) => JSON.stringify(parseMarkdown(source)).match(/"href":"[^"]*"/g) ?? [];
  expect(hrefs("[a](https://example.com) <mailto:a@example.com>")).toHaveLength(2);
  expect(hrefs("[a](javascript:alert(1)) [b](data:text/html,x) [c](//host) <javascript:x>")).toEqual([]);
  expect(parseMarkdown("<img src=x onerror=alert(1)>")).toEqual([{ type: "paragraph", children: [text("<img src=x onerror=alert(1)>")] }]);
});

test("a long text of any form is parsed before the test times out", () => {
  for (const part of ["*", "_", "`", "[", "**a ", "> ", "- ", "[a](", "\\"]) {
    expect(parseMarkdown(part.repeat(10_000 / part.length)).length).toBeGreaterThan(0);
  }
});
