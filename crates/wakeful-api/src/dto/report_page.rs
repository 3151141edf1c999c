//! The report as a page for people: in the reader's language, printable, and readable on a
//! phone. It contains no script and loads nothing.

use axum::http::{HeaderMap, header};
use wakeful_core::history::period::Period;
use wakeful_core::named_enum;
use wakeful_core::time::Millis;

use super::report::{LineBody, ReportBody};

named_enum! {
    /// The languages of the page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Language {
        English = "en",
        German = "de",
    }
}

impl Language {
    /// The language of a tag such as `de-CH`.
    pub(crate) fn parse(tag: &str) -> Option<Self> {
        let primary = tag.trim().split('-').next()?.to_ascii_lowercase();
        Self::ALL.iter().copied().find(|language| language.as_str() == primary)
    }

    /// The supported language that the client prefers; English if there is none.
    pub(crate) fn preferred(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let mut best = (Self::English, 0.0);
        for item in accept.unwrap_or_default().split(',') {
            let (tag, quality) = item.split_once(";q=").unwrap_or((item, "1"));
            let quality: f32 = quality.trim().parse().unwrap_or(0.0);
            if let Some(language) = Self::parse(tag).filter(|_| quality > best.1) {
                best = (language, quality);
            }
        }
        best.0
    }

    fn texts(self) -> &'static Texts {
        match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
        }
    }

    fn decimal(self, number: f64, decimals: usize) -> String {
        let text = format!("{number:.decimals$}");
        match self {
            Self::English => text,
            Self::German => text.replace('.', ","),
        }
    }

    fn day(self, at: Millis) -> String {
        let (year, month, day) = date(at);
        let month = self.texts().months[month - 1];
        match self {
            Self::English => format!("{day} {month} {year}"),
            Self::German => format!("{day}. {month} {year}"),
        }
    }
}

/// The texts of the page.
struct Texts {
    report: &'static str,
    tag: &'static str,
    until: &'static str,
    no_data: &'static str,
    totals: [&'static str; 5],
    heads: [&'static str; 10],
    months: [&'static str; 12],
}

const ENGLISH: Texts = Texts {
    report: "Uptime report",
    tag: "Tag",
    until: "to",
    no_data: "No data",
    totals: ["Uptime", "Outages", "Downtime", "Maintenance", "Monitors"],
    heads: [
        "Monitor",
        "Uptime",
        "Outages",
        "Downtime",
        "Maintenance",
        "Longest outage",
        "Average outage",
        "Median response",
        "95th percentile",
        "99th percentile",
    ],
    months: [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
};

const GERMAN: Texts = Texts {
    report: "Verfügbarkeitsbericht",
    tag: "Tag",
    until: "bis",
    no_data: "Keine Daten",
    totals: ["Verfügbarkeit", "Ausfälle", "Ausfallzeit", "Wartung", "Monitore"],
    heads: [
        "Monitor",
        "Verfüg\u{ad}barkeit",
        "Ausfälle",
        "Ausfall\u{ad}zeit",
        "Wartung",
        "Längster Ausfall",
        "Mittlerer Ausfall",
        "Antwortzeit (Median)",
        "95. Perzentil",
        "99. Perzentil",
    ],
    months: [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
};

/// A report in one language.
pub(crate) struct ReportPage<'a> {
    pub(crate) report: &'a ReportBody,
    pub(crate) language: Language,
}

impl ReportPage<'_> {
    pub(crate) fn html(&self) -> String {
        let ReportBody { total, monitors, .. } = self.report;
        let texts = self.language.texts();
        let totals = [
            self.percent(total.uptime),
            total.outages.to_string(),
            span(Some(total.downtime)),
            span(Some(total.maintenance)),
            total.monitors.to_string(),
        ];
        let totals = texts.totals.iter().zip(&totals);
        let totals: String = totals
            .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"))
            .collect();
        let heads = texts.heads.iter();
        let heads: String = heads
            .map(|head| format!("<th scope=\"col\" role=\"columnheader\">{head}</th>"))
            .collect();
        let rows: String = monitors.iter().map(|line| self.row(line)).collect();
        include_str!("report.html")
            .replace("{lang}", self.language.as_str())
            .replace("{totals}", &totals)
            .replace("{heads}", &heads)
            .replace("{title}", &format!("{} · {}", texts.report, self.period()))
            .replace("{about}", &self.about())
            .replace("{rows}", &rows)
    }

    /// `October 2026`, or the first and the last day.
    fn period(&self) -> String {
        let Period { from, .. } = self.report.period;
        match self.report.period.month() {
            Some(_) => {
                let (year, month, _) = date(from);
                format!("{} {year}", self.language.texts().months[month - 1])
            }
            None => self.days(),
        }
    }

    fn days(&self) -> String {
        // A period that is not over ends now.
        let last = self.report.period.last_day().min(self.report.to);
        let (first, last) = (self.language.day(self.report.period.from), self.language.day(last));
        let until = self.language.texts().until;
        if first == last { first } else { format!("{first} {until} {last}") }
    }

    /// The team, the exact period and the tag.
    fn about(&self) -> String {
        let team = format!("<bdi>{}</bdi>", escaped(&self.report.team));
        let tag =
            self.report.tag.as_deref().map(|tag| {
                format!(" · {}: <bdi>{}</bdi>", self.language.texts().tag, escaped(tag))
            });
        format!("{team} · {} (UTC){}", self.days(), tag.unwrap_or_default())
    }

    fn row(&self, line: &LineBody) -> String {
        let (name, target) = (escaped(&line.name), escaped(&line.target));
        let cells = [
            self.percent(line.uptime),
            line.outages.to_string(),
            span(Some(line.downtime)),
            span(Some(line.maintenance)),
            span(line.longest_outage),
            span(line.mean_time_to_recover),
            self.millis(line.p50),
            self.millis(line.p95),
            self.millis(line.p99),
        ];
        let heads = &self.language.texts().heads[1..];
        let cells: String = heads
            .iter()
            .zip(&cells)
            .map(|(head, cell)| format!("<td role=\"cell\" data-label=\"{head}\">{cell}</td>"))
            .collect();
        let small = if target.is_empty() {
            String::new()
        } else {
            format!("<small><bdi>{target}</bdi></small>")
        };
        format!(
            "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\"><bdi>{name}</bdi>{small}</th>{cells}</tr>\n"
        )
    }

    fn percent(&self, value: Option<f64>) -> String {
        match value {
            None => self.language.texts().no_data.to_owned(),
            // Rounded down, so that 100 means never down. Adding a millionth undoes the
            // error of the binary representation.
            Some(value) => {
                let floor = (value * 1e3 + 1e-6).floor() / 1e3;
                format!("{} %", self.language.decimal(floor, 3))
            }
        }
    }

    fn millis(&self, value: Option<f64>) -> String {
        match value {
            None => "–".to_owned(),
            Some(value) => format!("{} ms", self.language.decimal(value, 1)),
        }
    }
}

/// `2 d 3 h`, `3 h 4 min`, `4 min 5 s`, `5 s`.
fn span(seconds: Option<u64>) -> String {
    let Some(seconds) = seconds else { return "–".to_owned() };
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (1.., ..) => format!("{days} d {hours} h"),
        (0, 1.., _) => format!("{hours} h {minutes} min"),
        (0, 0, 1..) => format!("{minutes} min {rest} s"),
        (0, 0, 0) => format!("{rest} s"),
    }
}

/// The year, month and day of a time in UTC.
fn date(at: Millis) -> (String, usize, u32) {
    let text = at.to_string();
    let part = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(1);
    (text[..4].to_owned(), part(5..7) as usize, part(8..10))
}

/// Text from users; the brace, so that it is not taken for a placeholder.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('{', "&#123;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_name_is_never_a_tag_or_a_placeholder() {
        assert_eq!(escaped("<b>&\"{rows}"), "&lt;b&gt;&amp;&quot;&#123;rows}");
    }

    #[test]
    fn durations_are_shown_in_two_units() {
        for (seconds, shown) in
            [(0, "0 s"), (65, "1 min 5 s"), (3_660, "1 h 1 min"), (180_000, "2 d 2 h")]
        {
            assert_eq!(span(Some(seconds)), shown);
        }
        assert_eq!(span(None), "–");
    }

    #[test]
    fn numbers_have_the_decimal_separator_of_the_language() {
        assert_eq!(Language::English.decimal(12.0, 1), "12.0");
        assert_eq!(Language::German.decimal(12.34, 1), "12,3");
    }

    #[test]
    fn the_language_is_the_one_that_the_reader_prefers() {
        for (accept, language) in [
            ("de-CH,de;q=0.9,en;q=0.8", Language::German),
            ("fr, en;q=0.5, de;q=0.6", Language::German),
            ("en-GB, de", Language::English),
            ("fr", Language::English),
            ("de;q=0", Language::English),
            ("*;q=x,;;,de;q=, DE", Language::German),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static(accept));
            assert_eq!(Language::preferred(&headers), language, "{accept}");
        }
        assert_eq!(Language::preferred(&HeaderMap::new()), Language::English);
    }
}
