//! Text from elsewhere on one line of bounded length, for pages, mails and logs: a target, a
//! mail server or a browser may send anything.

/// Replaces control characters and line ends by spaces, and removes characters that change the
/// direction of the text around them.
pub fn one_line(text: &str, max_chars: usize) -> String {
    if text.len() <= max_chars && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        // As usual: nothing is to be replaced.
        return text.trim().to_owned();
    }
    let visible = text.chars().filter(|c| !changes_direction(*c));
    let spaced = visible.map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c });
    let line: String = spaced.take(max_chars).collect();
    line.trim().to_owned()
}

fn changes_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_line_that_cannot_disturb_its_surroundings() {
        assert_eq!(one_line(" a\r\n\tb\u{1b}[31m\0\u{2028}c ", 100), "a   b [31m  c");
        assert_eq!(one_line(" 200 OK ", 8), "200 OK");
        assert_eq!(one_line("200 OK", 5), "200 O");
        assert_eq!(one_line("file\u{202e}gpj.\u{2066}exe\u{200f}", 100), "filegpj.exe");
        assert_eq!(one_line(&"é".repeat(5_000), 1_024).chars().count(), 1_024);
    }
}
