//! Calendar feeds in the format of RFC 5545: shifts as events, in UTC.

use std::fmt::Write as _;

use crate::calendar::Span;
use crate::time::Millis;

/// The longest line, in bytes.
const MAX_LINE: usize = 75;

/// An event of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcalEvent {
    /// The same for the same event whenever the feed is read.
    pub uid: String,
    pub span: Span,
    pub summary: String,
}

/// The text of a feed.
pub fn feed(name: &str, events: &[IcalEvent], now: Millis) -> String {
    let mut feed = String::new();
    let mut line = |text: &str| fold(&mut feed, text);
    line("BEGIN:VCALENDAR");
    line("VERSION:2.0");
    line("PRODID:-//Wakeful//On call//EN");
    line("CALSCALE:GREGORIAN");
    line("METHOD:PUBLISH");
    line(&format!("X-WR-CALNAME:{}", escape(name)));
    line("REFRESH-INTERVAL;VALUE=DURATION:PT1H");
    line("X-PUBLISHED-TTL:PT1H");
    for event in events {
        line("BEGIN:VEVENT");
        line(&format!("UID:{}", escape(&event.uid)));
        line(&format!("DTSTAMP:{}", utc(now)));
        line(&format!("DTSTART:{}", utc(event.span.from)));
        line(&format!("DTEND:{}", utc(event.span.to)));
        line(&format!("SUMMARY:{}", escape(&event.summary)));
        line("TRANSP:TRANSPARENT");
        line("END:VEVENT");
    }
    line("END:VCALENDAR");
    feed
}

/// Such as `20260329T023000Z`.
fn utc(at: Millis) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// A text value (RFC 5545, 3.3.11). Other control characters are not allowed in one.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\\' | ';' | ',' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' | '\r' => escaped.push_str("\\n"),
            other if other.is_control() && other != '\t' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Adds a line, folded at 75 octets and never inside a character (RFC 5545, 3.1).
fn fold(feed: &mut String, line: &str) {
    let mut length = 0;
    for character in line.chars() {
        if length + character.len_utf8() > MAX_LINE {
            feed.push_str("\r\n ");
            length = 1;
        }
        let _ = write!(feed, "{character}");
        length += character.len_utf8();
    }
    feed.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(summary: &str) -> IcalEvent {
        IcalEvent {
            uid: "a@b".to_owned(),
            span: Span { from: Millis(1_774_750_200_000), to: Millis(1_774_753_800_000) },
            summary: summary.to_owned(),
        }
    }

    /// The properties of a feed, unfolded and unescaped, as a reader sees them.
    fn parse(feed: &str) -> Vec<(String, String)> {
        let unfolded = feed.replace("\r\n ", "");
        let lines = unfolded.strip_suffix("\r\n").expect("a last line end").split("\r\n");
        lines
            .map(|line| {
                let (name, value) = line.split_once(':').expect("a property");
                let mut text = String::new();
                let mut characters = value.chars();
                while let Some(character) = characters.next() {
                    match character {
                        '\\' => match characters.next().expect("an escaped character") {
                            'n' => text.push('\n'),
                            other => text.push(other),
                        },
                        other => text.push(other),
                    }
                }
                (name.to_owned(), text)
            })
            .collect()
    }

    #[test]
    fn a_feed_has_an_event_for_each_shift() {
        let feed = feed("Ops; nights", &[event("Ann, on call")], Millis(1_774_000_000_000));
        let properties = parse(&feed);
        let value = |name: &str| {
            let found = properties.iter().find(|(one, _)| one == name);
            found.unwrap_or_else(|| panic!("{name} in {feed}")).1.clone()
        };
        assert_eq!(value("X-WR-CALNAME"), "Ops; nights");
        assert_eq!(value("SUMMARY"), "Ann, on call");
        assert_eq!(value("DTSTART"), "20260329T021000Z");
        assert_eq!(value("DTEND"), "20260329T031000Z");
        assert_eq!(value("DTSTAMP"), "20260320T094640Z");
        assert_eq!(value("REFRESH-INTERVAL;VALUE=DURATION"), "PT1H");
        assert_eq!(value("TRANSP"), "TRANSPARENT");
        assert!(feed.contains(r"X-WR-CALNAME:Ops\; nights"), "{feed}");
        assert!(feed.contains(r"SUMMARY:Ann\, on call"), "{feed}");
    }

    #[test]
    fn a_name_cannot_add_properties() {
        let feed = feed("x\r\nBEGIN:VEVENT", &[], Millis(0));
        assert_eq!(feed.matches("BEGIN:VEVENT").count(), 1);
        assert!(!feed.contains("\r\nBEGIN:VEVENT"), "{feed}");
    }

    proptest! {
        #[test]
        fn lines_are_short_and_texts_are_read_back(summary in "[a-zäöü日本🔔\\\\;,\n ]{0,200}") {
            let feed = feed("x", &[event(&summary)], Millis(0));
            for line in feed.split("\r\n") {
                prop_assert!(line.len() <= MAX_LINE, "{}", line);
                prop_assert!(!line.contains(['\n', '\r']));
            }
            let properties = parse(&feed);
            let found = properties.iter().find(|(name, _)| name == "SUMMARY").expect("a summary");
            prop_assert_eq!(&found.1, &summary);
        }
    }
}
