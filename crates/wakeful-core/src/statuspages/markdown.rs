//! The texts of a team: CommonMark without raw HTML and images. Only the tags below are ever
//! written, and everything else is escaped text.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Parser, Tag, TagEnd};
use std::fmt::Write as _;

/// Blocks that are nested deeper are written without their own tags.
const MAX_DEPTH: usize = 16;

/// The text as HTML.
pub fn to_html(markdown: &str) -> String {
    let clean = visible(markdown);
    let mut writer = Writer { html: String::with_capacity(clean.len() * 5 / 4), open: Vec::new() };
    for event in Parser::new(&clean) {
        writer.event(event);
    }
    writer.html
}

/// The text without its markup. Links keep their address.
pub fn to_text(markdown: &str) -> String {
    let clean = visible(markdown);
    let mut text = String::with_capacity(clean.len());
    let mut links = Vec::new();
    for event in Parser::new(&clean) {
        match event {
            Event::Text(part)
            | Event::Code(part)
            | Event::Html(part)
            | Event::InlineHtml(part)
            | Event::InlineMath(part)
            | Event::DisplayMath(part)
            | Event::FootnoteReference(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push('\n'),
            Event::Rule => text.push_str("\n\n"),
            Event::TaskListMarker(_) => {}
            Event::Start(Tag::Item) => text.push_str("\n- "),
            Event::Start(Tag::Link { dest_url, .. }) => links.push((text.len(), href(&dest_url))),
            Event::End(TagEnd::Link) => {
                let Some((start, Some(url))) = links.pop() else { continue };
                if text.get(start..).is_some_and(|shown| shown != url) {
                    let _ = write!(text, " ({url})");
                }
            }
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::List(_),
            ) => text.push_str("\n\n"),
            Event::Start(_) | Event::End(_) => {}
        }
    }
    let mut lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.dedup_by(|next, previous| next.is_empty() && previous.is_empty());
    lines.join("\n")
}

/// Escapes a text for HTML and XML, including attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push_escaped(&mut escaped, text);
    escaped
}

/// One line of text from elsewhere as Markdown that shows exactly this text.
pub fn literal(line: &str) -> String {
    let mut literal = String::with_capacity(line.len() + 16);
    let mut begins_line = true;
    for c in line.chars() {
        // Lists and underlines of headings begin a line, lists also with a number.
        let is_markup = "\\`*_~[]<>&!#|".contains(c) || (begins_line && "+-=.)".contains(c));
        if is_markup {
            literal.push('\\');
        }
        literal.push(c);
        begins_line &= c.is_ascii_digit();
    }
    literal
}

/// Without control characters, which XML does not allow, and without characters that reorder
/// the text around them.
pub fn visible(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

fn push_escaped(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}

/// The address of a link that is allowed, exactly as it is written.
fn href(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.into())
}

struct Writer {
    html: String,
    /// The end tags of what is open; empty for tags that are not written.
    open: Vec<&'static str>,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => push_escaped(&mut self.html, &text),
            Event::Code(text) => {
                self.html.push_str("<code>");
                push_escaped(&mut self.html, &text);
                self.html.push_str("</code>");
            }
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let (start, end) = match tag {
            Tag::Paragraph => ("<p>", "</p>"),
            Tag::Heading { .. } => ("<p><strong>", "</strong></p>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => {
                ("<pre><code>", "</code></pre>")
            }
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(first)) => return self.start_numbered(first),
            Tag::Item => ("<li>", "</li>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Link { dest_url, .. } => return self.start_link(&dest_url),
            // The alternative text of an image is shown in its place.
            _ => ("", ""),
        };
        if self.is_deep() {
            return self.open.push("");
        }
        self.html.push_str(start);
        self.open.push(end);
    }

    fn start_numbered(&mut self, first: u64) {
        if self.is_deep() {
            return self.open.push("");
        }
        let _ = match first {
            1 => write!(self.html, "<ol>"),
            other => write!(self.html, "<ol start=\"{}\">", other.min(1_000_000)),
        };
        self.open.push("</ol>");
    }

    fn start_link(&mut self, url: &CowStr<'_>) {
        let Some(url) = href(url) else { return self.open.push("") };
        self.html.push_str("<a href=\"");
        push_escaped(&mut self.html, &url);
        self.html.push_str("\" rel=\"nofollow noopener\">");
        self.open.push("</a>");
    }

    fn is_deep(&self) -> bool {
        self.open.len() >= MAX_DEPTH
    }

    fn end(&mut self) {
        if let Some(end) = self.open.pop() {
            self.html.push_str(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_becomes_html() {
        for (markdown, html) in [
            ("Hello *there*, **you**.", "<p>Hello <em>there</em>, <strong>you</strong>.</p>"),
            ("# Big", "<p><strong>Big</strong></p>"),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("3. a", "<ol start=\"3\"><li>a</li></ol>"),
            ("`a<b`", "<p><code>a&lt;b</code></p>"),
            (
                "[x](https://example.com/?a=1&b='\")",
                "<p><a href=\"https://example.com/?a=1&amp;b=%27%22\" rel=\"nofollow noopener\">x</a></p>",
            ),
            (
                "<mailto:a@example.com>",
                "<p><a href=\"mailto:a@example.com\" rel=\"nofollow noopener\">mailto:a@example.com</a></p>",
            ),
            ("![alt](https://example.com/x.png)", "<p>alt</p>"),
        ] {
            assert_eq!(to_html(markdown), html, "{markdown}");
        }
    }

    #[test]
    fn nothing_hostile_becomes_a_tag_or_an_address() {
        for markdown in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <!-- <b>x</b> --> c",
            "<div>\n\n*x*\n\n</div>",
            "[x](javascript:alert(1))",
            "[x](JaVa&#x53;cript:alert(1))",
            "[x](java\tscript:alert(1))",
            "[x](<java\nscript:alert(1)>)",
            "[x](data:text/html,<script>)",
            "[x](//evil.example)",
            "[x](/relative)",
            "![x](javascript:alert(1))",
            "[x]: javascript:alert(1)\n[x]",
            "<javascript:alert(1)>",
            "&lt;script&gt;",
        ] {
            let html = to_html(markdown);
            for bad in ["<script", "<img", "<div", "<b>", "<!--", "href"] {
                assert!(!html.contains(bad), "{markdown}: {html}");
            }
        }
        assert_eq!(to_html("a\u{202e}b\u{0}c\u{2066}"), "<p>abc</p>");
    }

    #[test]
    fn the_text_has_no_markup() {
        assert_eq!(to_text("# A\n\n*b* `c`\n\n- d\n- e"), "A\n\nb c\n\n- d\n- e");
        assert_eq!(to_text("[x](https://e.example/) y"), "x (https://e.example/) y");
        assert_eq!(to_text("<https://e.example/>"), "https://e.example/");
        assert_eq!(to_text("[x](javascript:1)"), "x");
    }

    #[test]
    fn nesting_is_limited() {
        let html = to_html(&format!("{}x", "> ".repeat(5_000)));
        assert!(html.matches("<blockquote>").count() <= MAX_DEPTH, "{html}");
    }

    proptest! {
        #[test]
        fn a_literal_text_is_shown_as_it_is(
            line in "[a-c0-3<>\\[\\](){}*_`~#!&|=+.:;,'\"/\\\\ -]{1,40}"
        ) {
            let line = line.trim();
            prop_assume!(!line.is_empty());
            for before in ["", "- ", "Why: "] {
                let html = to_html(&format!("{before}{}", literal(line)));
                prop_assert!(html.contains(&escape(line)), "{}: {}", line, html);
            }
            prop_assert_eq!(to_html(&literal(line)), format!("<p>{}</p>", escape(line)));
        }

        /// Whatever the text is, the tags are balanced and among those that are allowed.
        #[test]
        fn only_allowed_tags_are_written(
            markdown in "([a-z<>&\"'/!\\[\\]()*_`#> \n-]|https:|javascript:|<a |<b|\\]\\(|```){0,80}"
        ) {
            const ALLOWED: [&str; 11] =
                ["p", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a", "hr"];
            let html = to_html(&markdown);
            let mut open = Vec::new();
            for tag in html.split('<').skip(1) {
                let (tag, _) = tag.split_once('>').expect("tags are closed");
                if let Some(name) = tag.strip_prefix('/') {
                    prop_assert_eq!(open.pop(), Some(name), "{}", &html);
                    continue;
                }
                let name = tag.split(' ').next().expect("a name");
                prop_assert!(ALLOWED.contains(&name) || name == "br", "{}", &html);
                if !matches!(name, "hr" | "br") {
                    open.push(name);
                }
                if tag.contains('=') {
                    let address = tag.starts_with("a href=\"https:") || tag.starts_with("a href=\"http:");
                    prop_assert!(address || tag.starts_with("ol start=\""), "{}", &html);
                }
            }
            prop_assert!(open.is_empty(), "{}", &html);
        }
    }
}
