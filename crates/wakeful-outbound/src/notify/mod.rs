//! Telling people: one file per way of doing it, and the words. Each way gives
//! an `Outcome`; when to try again is decided elsewhere.

pub mod email;
pub mod letters;
pub mod preview;
pub mod renderers;
pub mod template;
pub mod webhook;

/// As much of a receiver's answer as is kept and shown.
const ANSWER: usize = 1_024;

/// A receiver's words without what could disturb a page or a log.
fn tidy(text: &str) -> String {
    let spaced = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let kept: String = spaced.filter(|c| !c.is_control()).take(ANSWER).collect();
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_short_and_without_control_characters() {
        assert_eq!(tidy(" a\r\n\tb\u{1b}[31m\0 "), "a   b[31m");
        assert_eq!(tidy(&"é".repeat(5_000)).chars().count(), ANSWER);
    }
}
