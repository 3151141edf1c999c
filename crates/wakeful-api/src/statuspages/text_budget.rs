//! How much of what is written about incidents a document contains, so that it is quickly built
//! and read, whatever a team writes. The rest is on the page of the incident.

use std::cell::Cell;
use wakeful_core::statuspages::markdown::{escape, to_html, to_text};

/// The most bytes of one text: every update fits, but a long postmortem does not.
const MAX_TEXT: usize = 40_000;
/// The most bytes of all texts of a document.
const MAX_TOTAL: usize = 512 * 1024;

/// What still fits into a document.
pub(super) struct TextBudget {
    left: Cell<usize>,
}

impl TextBudget {
    pub(super) fn new() -> Self {
        Self { left: Cell::new(MAX_TOTAL) }
    }

    pub(super) fn has_room(&self) -> bool {
        self.left.get() > 0
    }

    /// A Markdown text as HTML; its beginning with a link if it does not fit.
    pub(super) fn html(&self, markdown: &str, url: &str) -> String {
        html(self.begin(markdown), markdown, url)
    }

    /// The same without markup.
    pub(super) fn text(&self, markdown: &str, url: &str) -> String {
        text(self.begin(markdown), markdown, url)
    }

    /// Both forms, which count once.
    pub(super) fn html_and_text(&self, markdown: &str, url: &str) -> (String, String) {
        let begin = self.begin(markdown);
        (html(begin, markdown, url), text(begin, markdown, url))
    }

    fn begin<'a>(&self, markdown: &'a str) -> &'a str {
        let left = self.left.get();
        let begin = &markdown[..markdown.floor_char_boundary(MAX_TEXT.min(left))];
        let is_whole = begin.len() == markdown.len();
        self.left.set(if is_whole { left - begin.len() } else { left.saturating_sub(MAX_TEXT) });
        begin
    }
}

fn html(begin: &str, whole: &str, url: &str) -> String {
    let html = to_html(begin);
    if begin.len() == whole.len() {
        return html;
    }
    let url = escape(url);
    format!("{html}<p>… <a href=\"{url}\">{url}</a></p>")
}

fn text(begin: &str, whole: &str, url: &str) -> String {
    let text = to_text(begin);
    if begin.len() == whole.len() { text } else { format!("{text}…\n{url}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://example.com/?a=1&b=2";

    #[test]
    fn a_long_text_ends_with_a_link() {
        let budget = TextBudget::new();
        assert_eq!(budget.text("A **disk** was full.", URL), "A disk was full.");
        let (html, text) = budget.html_and_text(&"🔥".repeat(50_000), URL);
        assert_eq!(text, format!("{}…\n{URL}", "🔥".repeat(10_000)));
        let link = "<p>… <a href=\"https://example.com/?a=1&amp;b=2\">https://example.com/?a=1&amp;b=2</a></p>";
        assert_eq!(html, format!("<p>{}</p>{link}", "🔥".repeat(10_000)));
    }

    #[test]
    fn all_texts_of_a_document_are_limited() {
        let budget = TextBudget::new();
        let update = "é".repeat(10_000);
        let texts: Vec<String> = (0..40).map(|_| budget.text(&update, "/")).collect();
        let total: usize = texts.iter().map(String::len).sum();
        assert!((MAX_TOTAL..MAX_TOTAL + 40 * 10).contains(&total), "{total}");
        assert!(!budget.has_room());
        assert_eq!(texts[39], "…\n/");
    }
}
