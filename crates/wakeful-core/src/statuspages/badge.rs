//! Badges: a label and a message in an image, as shields.io draws them.

use serde::Serialize;
use std::fmt::Write as _;

use super::markdown::{escape, visible};
use super::snapshot::{ComponentStatus, Indicator, Uptime};
use crate::named_enum;

/// Longer labels are cut off.
const MAX_TEXT: usize = 64;

/// The widths of the printable ASCII characters in Verdana, in units of 1/2048 em.
const WIDTHS: [u16; 95] = [
    720, 806, 940, 1676, 1302, 2204, 1488, 550, 930, 930, 1302, 1676, 745, 930, 745, 930, 1302,
    1302, 1302, 1302, 1302, 1302, 1302, 1302, 1302, 1302, 930, 930, 1676, 1676, 1676, 1117, 2048,
    1400, 1404, 1430, 1578, 1295, 1177, 1588, 1539, 862, 931, 1419, 1140, 1726, 1532, 1612, 1235,
    1612, 1424, 1400, 1262, 1499, 1400, 2025, 1403, 1260, 1403, 930, 930, 930, 1676, 1302, 1302,
    1230, 1276, 1067, 1276, 1220, 720, 1276, 1296, 562, 705, 1212, 562, 1992, 1296, 1243, 1276,
    1276, 874, 1067, 807, 1296, 1212, 1676, 1212, 1212, 1076, 1300, 930, 1300, 1676,
];
const EM: u32 = 2048;

const NAMED_COLORS: [(&str, &str); 18] = [
    ("brightgreen", "#4c1"),
    ("green", "#97ca00"),
    ("yellow", "#dfb317"),
    ("yellowgreen", "#a4a61d"),
    ("orange", "#fe7d37"),
    ("red", "#e05d44"),
    ("blue", "#007ec6"),
    ("grey", "#555"),
    ("gray", "#555"),
    ("lightgrey", "#9f9f9f"),
    ("lightgray", "#9f9f9f"),
    ("success", "#4c1"),
    ("important", "#fe7d37"),
    ("critical", "#e05d44"),
    ("informational", "#007ec6"),
    ("inactive", "#9f9f9f"),
    ("blueviolet", "#8a2be2"),
    ("black", "#000"),
];
const LABEL_COLOR: &str = "#555";

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Style {
        #[default]
        Flat = "flat",
        FlatSquare = "flat-square",
        Plastic = "plastic",
        ForTheBadge = "for-the-badge",
    }
}

impl Style {
    /// An unknown style is the default one.
    pub fn of(name: &str) -> Self {
        Self::ALL.iter().copied().find(|style| style.as_str() == name).unwrap_or_default()
    }
}

/// What a badge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Badge {
    pub label: String,
    pub message: String,
    /// A name or a hexadecimal form that shields.io accepts.
    pub color: String,
    pub label_color: Option<String>,
    pub is_error: bool,
}

/// The format of shields.io for badges of others.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint<'a> {
    schema_version: u8,
    label: &'a str,
    message: &'a str,
    color: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_color: Option<&'a str>,
    is_error: bool,
}

impl Badge {
    pub fn new(label: &str, message: impl Into<String>, color: &str) -> Self {
        Self {
            label: label.to_owned(),
            message: message.into(),
            color: color.to_owned(),
            label_color: None,
            is_error: false,
        }
    }

    /// The badge of everything that is unknown, not shown, or of somebody else.
    pub fn not_available(label: &str) -> Self {
        Self { is_error: true, ..Self::new(label, "N/A", "lightgrey") }
    }

    pub fn of_page(indicator: Indicator, no_data: bool) -> Self {
        if no_data {
            return Self::not_available("status");
        }
        let (message, color) = match indicator {
            Indicator::None => ("operational", "brightgreen"),
            Indicator::Maintenance => ("maintenance", "blue"),
            Indicator::Minor => ("degraded", "yellow"),
            Indicator::Major => ("partial outage", "orange"),
            Indicator::Critical => ("major outage", "red"),
        };
        Self::new("status", message, color)
    }

    pub fn of_component(status: ComponentStatus) -> Self {
        let (message, color) = match status {
            ComponentStatus::Unknown => return Self::not_available("status"),
            ComponentStatus::Operational => ("operational", "brightgreen"),
            ComponentStatus::UnderMaintenance => ("maintenance", "blue"),
            ComponentStatus::DegradedPerformance => ("degraded", "yellow"),
            ComponentStatus::PartialOutage => ("partial outage", "orange"),
            ComponentStatus::MajorOutage => ("major outage", "red"),
        };
        Self::new("status", message, color)
    }

    pub fn of_uptime(label: &str, uptime: Option<Uptime>, decimals: u8) -> Self {
        let Some(uptime) = uptime else { return Self::not_available(label) };
        let color = match uptime.millionths() {
            999_000.. => "brightgreen",
            990_000.. => "green",
            950_000.. => "yellow",
            900_000.. => "orange",
            _ => "red",
        };
        Self::new(label, format!("{}%", uptime.percent(decimals)), color)
    }

    /// Takes over what a URL asks for; anything that is not understood is ignored.
    pub fn customize(
        &mut self,
        label: Option<&str>,
        label_color: Option<&str>,
        color: Option<&str>,
    ) {
        if let Some(label) = label {
            self.label = visible(label).chars().take(MAX_TEXT).collect();
        }
        if let Some(color) = color.filter(|color| css_color(color).is_some()) {
            color.clone_into(&mut self.color);
        }
        let label_color = label_color.filter(|color| css_color(color).is_some());
        self.label_color = label_color.map(str::to_owned).or(self.label_color.take());
    }

    /// The endpoint format of shields.io.
    pub fn json(&self) -> String {
        let endpoint = Endpoint {
            schema_version: 1,
            label: &self.label,
            message: &self.message,
            color: &self.color,
            label_color: self.label_color.as_deref(),
            is_error: self.is_error,
        };
        serde_json::to_string(&endpoint).unwrap_or_default()
    }

    pub fn svg(&self, style: Style) -> String {
        let large = style == Style::ForTheBadge;
        let case = |text: &str| if large { text.to_uppercase() } else { text.to_owned() };
        let (label, message) = (case(&self.label), case(&self.message));
        let color = css_color(&self.color).unwrap_or_else(|| "#9f9f9f".to_owned());
        let label_color = self.label_color.as_deref().and_then(css_color);
        let label_color = label_color.unwrap_or_else(|| LABEL_COLOR.to_owned());
        let (height, padding, size) = if large { (28, 12, 10) } else { (20, 5, 11) };
        let spacing = if large { 1 } else { 0 };
        let box_width = |text: &str| {
            if text.is_empty() { 0 } else { width(text, size, spacing) + 2 * padding }
        };
        let (left, right) = (box_width(&label), box_width(&message));
        let total = left + right;
        let radius = match style {
            Style::Flat => 3,
            Style::Plastic => 4,
            Style::FlatSquare | Style::ForTheBadge => 0,
        };
        let title = match label.as_str() {
            "" => escape(&message),
            label => format!("{}: {}", escape(label), escape(&message)),
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total}\" height=\"{height}\" role=\"img\" \
             aria-label=\"{title}\"><title>{title}</title>"
        );
        let gloss = match style {
            Style::Flat => {
                "<stop offset=\"0\" stop-color=\"#bbb\" stop-opacity=\".1\"/><stop offset=\"1\" stop-opacity=\".1\"/>"
            }
            Style::Plastic => {
                "<stop offset=\"0\" stop-color=\"#fff\" stop-opacity=\".7\"/><stop offset=\".1\" stop-color=\"#aaa\" stop-opacity=\".1\"/><stop offset=\".9\" stop-opacity=\".3\"/><stop offset=\"1\" stop-opacity=\".5\"/>"
            }
            Style::FlatSquare | Style::ForTheBadge => "",
        };
        if !gloss.is_empty() {
            let _ = write!(
                svg,
                "<linearGradient id=\"s\" x2=\"0\" y2=\"100%\">{gloss}</linearGradient>"
            );
        }
        let _ = write!(
            svg,
            "<clipPath id=\"r\"><rect width=\"{total}\" height=\"{height}\" rx=\"{radius}\"/></clipPath>\
             <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"{height}\" fill=\"{label_color}\"/>\
             <rect x=\"{left}\" width=\"{right}\" height=\"{height}\" fill=\"{color}\"/>"
        );
        if !gloss.is_empty() {
            let _ = write!(svg, "<rect width=\"{total}\" height=\"{height}\" fill=\"url(#s)\"/>");
        }
        let weight = if large { " font-weight=\"bold\" letter-spacing=\"1\"" } else { "" };
        let _ = write!(
            svg,
            "</g><g text-anchor=\"middle\" font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"{size}\"{weight}>"
        );
        let baseline = if large { 18 } else { 14 };
        for (text, from, wide, background) in
            [(&label, 0, left, &label_color), (&message, left, right, &color)]
        {
            if text.is_empty() {
                continue;
            }
            let fill = if is_light(background) { "#333" } else { "#fff" };
            let middle = from + wide / 2;
            let _ = write!(
                svg,
                "<text x=\"{middle}\" y=\"{baseline}\" fill=\"{fill}\" textLength=\"{}\">{}</text>",
                wide - 2 * padding,
                escape(text)
            );
        }
        svg.push_str("</g></svg>");
        svg
    }
}

/// The width of a text in pixels.
fn width(text: &str, size: u32, spacing: u32) -> u32 {
    let of = |c: char| match u32::from(c).checked_sub(32) {
        Some(index) if index < 95 => u32::from(WIDTHS[index as usize]),
        // Most characters of East Asia, and emoji, are as wide as they are high.
        Some(_) if c >= '\u{2e80}' => EM,
        _ => 1300,
    };
    let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let units = text.chars().map(of).sum::<u32>();
    // An odd width keeps the text on whole pixels.
    ((units * size).div_ceil(EM) + characters * spacing) | 1
}

/// The color of a name or of 3 or 6 hexadecimal digits.
fn css_color(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some((_, color)) = NAMED_COLORS.iter().find(|(name, _)| *name == lower) {
        return Some((*color).to_owned());
    }
    let digits = lower.strip_prefix('#').unwrap_or(&lower);
    let is_hex = matches!(digits.len(), 3 | 6) && digits.bytes().all(|d| d.is_ascii_hexdigit());
    is_hex.then(|| format!("#{digits}"))
}

/// Whether dark text is more readable on it. Takes the output of `css_color`.
fn is_light(color: &str) -> bool {
    let digits = color.trim_start_matches('#');
    let part = |index: usize| {
        let text = match digits.len() {
            3 => digits.get(index..=index).map(|digit| digit.repeat(2)),
            _ => digits.get(index * 2..index * 2 + 2).map(str::to_owned),
        };
        text.and_then(|text| u32::from_str_radix(&text, 16).ok()).unwrap_or_default()
    };
    (part(0) * 299 + part(1) * 587 + part(2) * 114) / 1000 > 175
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_has_its_text_in_every_style() {
        let uptime = Uptime::of(99_982, 18);
        for style in Style::ALL {
            let svg = Badge::of_uptime("uptime 90d", uptime, 3).svg(*style);
            assert!(svg.contains("role=\"img\""), "{svg}");
            let text = if *style == Style::ForTheBadge { "UPTIME 90D" } else { "uptime 90d" };
            assert!(svg.contains(&format!("<title>{text}: 99.982%</title>")), "{svg}");
            assert_eq!(svg.matches("<text ").count(), 2, "{svg}");
        }
    }

    #[test]
    fn what_a_url_asks_for_is_escaped_cut_off_or_ignored() {
        let mut badge = Badge::of_page(Indicator::None, false);
        badge.customize(Some("<script>&\"'\u{202e}"), Some("red;x"), Some("url(x)"));
        assert_eq!((badge.color.as_str(), badge.label_color.as_deref()), ("brightgreen", None));
        let svg = badge.svg(Style::Flat);
        assert!(
            !svg.contains("<script") && svg.contains("&lt;script&gt;&amp;&quot;&#39;:"),
            "{svg}"
        );
        badge.customize(Some(&"x".repeat(500)), Some("0AF"), Some("BLUE"));
        assert_eq!(badge.label.len(), MAX_TEXT);
        let svg = badge.svg(Style::of("for-the-badge"));
        assert!(svg.contains("fill=\"#0af\"") && svg.contains("fill=\"#007ec6\""), "{svg}");
        assert_eq!(Style::of("?"), Style::Flat);
    }

    #[test]
    fn the_endpoint_format_is_that_of_shields() {
        let json = Badge::not_available("uptime 24h").json();
        assert_eq!(
            json,
            r#"{"schemaVersion":1,"label":"uptime 24h","message":"N/A","color":"lightgrey","isError":true}"#
        );
    }
}
