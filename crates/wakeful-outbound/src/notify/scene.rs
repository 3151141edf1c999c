//! What a message to a service is about: the event, in the words and with the links that every
//! service shows, and the means to make them fit its limits.

use wakeful_core::id::AlertId;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::one_line::one_line;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;

use super::template::{self, Style};

/// A longer target is shortened.
const MAX_TARGET: usize = 300;

/// An event as services show it.
pub struct Scene<'a> {
    pub event: &'a Event,
    pub phase: Phase,
    /// The alert's page in the web app.
    pub link: &'a str,
}

/// Where in the course of an alert an event belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Opens,
    /// It is still open.
    Repeats,
    Acknowledged,
    Assigned,
    /// There is something to know, and nothing to do: a comment, or an announcement.
    News,
    /// A user has closed it.
    Resolved,
    Ends,
    Test,
    /// Closes what the test has opened.
    TestEnds,
}

impl Phase {
    fn of(event: &Event) -> Self {
        match event.kind.as_str() {
            event::DOWN
            | event::FLAPPING
            | event::CERTIFICATE
            | event::DOMAIN
            | event::DEGRADED => Self::Opens,
            event::REMINDER | event::ESCALATED => Self::Repeats,
            event::ACKNOWLEDGED => Self::Acknowledged,
            event::ASSIGNED => Self::Assigned,
            event::RESOLVED => Self::Resolved,
            event::UP | event::STEADY | event::RESTORED => Self::Ends,
            event::TEST => Self::Test,
            event::DIGEST => match event.data.status.as_deref() {
                Some("down" | "warning") => Self::Opens,
                Some("up") => Self::Ends,
                _ => Self::News,
            },
            _ => Self::News,
        }
    }

    /// Whether the first message no longer says how things are.
    pub fn changes_first_message(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Resolved | Self::Ends | Self::TestEnds)
    }
}

/// How loud a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Critical,
    Warning,
    Info,
    /// Good news, or news for those who know already.
    Recovery,
}

impl<'a> Scene<'a> {
    pub fn of(event: &'a Event, link: &'a str) -> Self {
        Self { event, phase: Phase::of(event), link }
    }

    /// The end of a test.
    #[must_use]
    pub fn closing(&self) -> Self {
        Self { event: self.event, phase: Phase::TestEnds, link: self.link }
    }

    pub fn level(&self) -> Level {
        match (self.phase, self.event.data.severity.unwrap_or_default()) {
            (Phase::Opens | Phase::Repeats, Severity::Critical) => Level::Critical,
            (Phase::Opens | Phase::Repeats, Severity::Warning) => Level::Warning,
            (Phase::Opens | Phase::Repeats, Severity::Info) => Level::Info,
            (Phase::Assigned, Severity::Info) => Level::Info,
            (Phase::Assigned, _) => Level::Warning,
            (Phase::Test, _) => Level::Warning,
            _ if self.event.data.silent => Level::Info,
            _ => Level::Recovery,
        }
    }

    /// Whether people are to be called by their names.
    pub fn mentions(&self) -> bool {
        self.level() == Level::Critical
    }

    /// Whether no sound is made.
    pub fn is_silent(&self) -> bool {
        matches!(self.level(), Level::Info | Level::Recovery)
    }

    /// Identifies the alert, or the test.
    pub fn alert(&self) -> String {
        let data = &self.event.data;
        data.alertid.map_or_else(|| data.eventid.to_string(), |alert| alert.to_string())
    }

    pub fn is_digest(&self) -> bool {
        self.event.is(event::DIGEST)
    }

    /// The alerts of a digest that need no more attention.
    pub fn attended(&self) -> &[AlertId] {
        &self.event.data.attended
    }

    pub fn title(&self) -> String {
        let title = match self.phase {
            Phase::TestEnds => "Test message from Wakeful, completed".to_owned(),
            _ => template::title(self.event),
        };
        one_line(&title, usize::MAX)
    }

    pub fn emoji(&self) -> &'static str {
        match self.phase {
            Phase::TestEnds => "✅",
            _ => Style::of(self.event).emoji,
        }
    }

    pub fn color(&self) -> u32 {
        Style::of(self.event).color
    }

    /// Why it is down, or what else there is to say.
    pub fn cause(&self) -> &str {
        self.event.data.cause.as_deref().unwrap_or(&self.event.data.message)
    }

    /// The page with the actions on the alert.
    pub fn action_page(&self) -> Option<&str> {
        self.event.data.action_page.as_deref()
    }

    pub fn target(&self) -> Option<String> {
        let monitor = self.event.data.monitor.as_ref()?;
        let target = shorten(&one_line(&monitor.target, usize::MAX), MAX_TARGET);
        (!target.is_empty()).then_some(target)
    }

    /// What else a reader wants to know, with its names.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let data = &self.event.data;
        let ended = self.phase == Phase::Ends;
        let lasted = self.event.outage_duration().filter(|_| ended);
        let affected = data.affected.as_ref().filter(|affected| affected.count > 0);
        let facts = [
            ("Target", self.target()),
            ("Down since", data.down_since.as_deref().map(time)),
            ("Lasted", lasted),
            ("Depend on it", affected.map(|affected| format!("{} monitors", affected.count))),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The whole message without any markup, for services that have none, or that refuse ours.
    /// The links are never shortened.
    pub fn plain(&self, max: usize) -> String {
        let links = self.plain_links();
        let room = max.saturating_sub(links.chars().count());
        let mut text = String::new();
        append(&mut text, self.cause(), room, plain);
        for (name, value) in self.facts() {
            let separator = if text.is_empty() { "" } else { "\n" };
            append(&mut text, &format!("{separator}{name}: {value}"), room, plain);
        }
        text + &links
    }

    /// The whole message in Markdown.
    pub fn markdown(&self, max: usize) -> String {
        let acknowledge = self.action_page().map(|page| format!("[Acknowledge]({page}) · "));
        let links = format!("\n\n{}[Open]({})", acknowledge.unwrap_or_default(), self.link);
        let mut facts = String::new();
        for (name, value) in self.facts() {
            append(&mut facts, &format!("\n\n{name}: {value}"), max / 2, markdown);
        }
        let mut text = String::new();
        let used = links.chars().count() + facts.chars().count();
        append(&mut text, self.cause(), max.saturating_sub(used), markdown_lines);
        text + &facts + &links
    }

    fn plain_links(&self) -> String {
        let acknowledge = self.action_page().map(|page| format!("\nAcknowledge: {page}"));
        format!("{}\nOpen: {}", acknowledge.unwrap_or_default(), self.link)
    }
}

/// A time as people write it; another text as it is.
pub fn time(text: &str) -> String {
    Millis::parse(text).map_or_else(|| text.to_owned(), Millis::for_people)
}

/// Shortens a text to so many characters.
pub fn shorten(text: &str, max: usize) -> String {
    let mut short = String::new();
    append(&mut short, text, max, plain);
    short
}

/// As long in bytes.
pub fn shorten_bytes(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Appends a text in a service's markup until the whole has `max` characters. What `escape`
/// makes of a character is never divided.
pub fn append(to: &mut String, text: &str, max: usize, escape: impl Fn(char, &mut String)) {
    let mut count = to.chars().count();
    let (mut safe_end, mut part) = (to.len(), String::new());
    for c in text.chars().map(visible) {
        part.clear();
        escape(c, &mut part);
        let length = part.chars().count();
        if count + length > max {
            to.truncate(safe_end);
            if max > 0 {
                to.push('…');
            }
            return;
        }
        to.push_str(&part);
        count += length;
        // There must be room for the ellipsis.
        if count < max {
            safe_end = to.len();
        }
    }
}

fn visible(c: char) -> char {
    if c.is_control() && c != '\n' { ' ' } else { c }
}

pub fn plain(c: char, to: &mut String) {
    to.push(c);
}

/// HTML, and the markup of Slack.
pub fn entities(c: char, to: &mut String) {
    match c {
        '&' => to.push_str("&amp;"),
        '<' => to.push_str("&lt;"),
        '>' => to.push_str("&gt;"),
        other => to.push(other),
    }
}

/// Markdown in which a line of the text stays a line.
fn markdown_lines(c: char, to: &mut String) {
    match c {
        '\n' => to.push_str("  \n"),
        other => markdown(other, to),
    }
}

/// Markdown in its usual forms.
pub fn markdown(c: char, to: &mut String) {
    if "\\`*_~|[]()<>#!".contains(c) {
        to.push('\\');
    }
    to.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shortened_between_characters_and_never_within_markup() {
        assert_eq!(shorten("short", 5), "short");
        assert_eq!(shorten("longer", 5), "long…");
        assert_eq!(shorten("äöüäöü", 3), "äö…");
        assert_eq!(shorten_bytes("äöüäöü", 8), "äö…");
        let mut text = "Why: ".to_owned();
        append(&mut text, "a<b & c", 12, entities);
        assert_eq!(text, "Why: a&lt;b…");
        let mut text = String::new();
        append(&mut text, "[click](http://x)\u{7}*", 100, markdown);
        assert_eq!(text, "\\[click\\]\\(http://x\\) \\*");
    }
}
