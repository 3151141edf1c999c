//! The bars of a component: one bar for each day. The good days of all components are one
//! shared shape; only other days are drawn for each component, one path for each color.

use std::fmt::Write as _;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::snapshot::{Component, DayColor, Days, ResponseDay};

use super::view::View;

/// In units of the drawing.
const WIDTH: usize = 3;
const STEP: usize = 5;
const HEIGHT: usize = 34;
/// The top of a usual bar; bad days are taller.
const TOP: usize = 8;

/// The view box of so many bars.
fn view_box(days: usize) -> String {
    format!("0 0 {} {HEIGHT}", (days * STEP).saturating_sub(STEP - WIDTH).max(1))
}

fn bar(path: &mut String, index: usize, top: usize) {
    let _ = write!(path, "M{} {top}h{WIDTH}V{HEIGHT}h-{WIDTH}z", index * STEP);
}

/// The shape that the bars of all components share.
pub(super) fn shared(days: usize) -> String {
    let mut path = String::new();
    (0..days).for_each(|index| bar(&mut path, index, TOP));
    format!("<path id=\"d\" d=\"{path}\"/>")
}

/// The bars as an image with a sentence for screen readers.
pub(super) fn svg(view: &View<'_>, component: &Component) -> String {
    let days = &component.days;
    let label = sentence(view, component);
    let mut svg = format!(
        "<svg class=\"bars\" viewBox=\"{}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">\
         <use href=\"#d\"/>",
        view_box(days.len()),
        wakeful_core::statuspages::markdown::escape(&label)
    );
    for (color, class, top) in [
        (DayColor::NoData, "n", TOP),
        (DayColor::Maintenance, "m", TOP),
        (DayColor::Some, "s", 3),
        (DayColor::Out, "o", 0),
    ] {
        let path = path(days, color, top);
        if !path.is_empty() {
            let _ = write!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }
    svg.push_str("</svg>");
    svg
}

fn path(days: &Days, color: DayColor, top: usize) -> String {
    let mut path = String::new();
    for (index, day) in days.iter().enumerate() {
        if day.color == color {
            bar(&mut path, index, top);
        }
    }
    path
}

fn sentence(view: &View<'_>, component: &Component) -> String {
    let m = view.m;
    let number = component.days.len().to_string();
    let bad = component.days.iter().filter(|d| matches!(d.color, DayColor::Some | DayColor::Out));
    let bad = bad.count();
    let shown = component.uptime.as_ref().and_then(|figures| figures.shown);
    let of_days = || {
        let figures = component.days.iter().filter_map(|day| day.uptime);
        wakeful_core::statuspages::snapshot::Uptime::mean(figures)
    };
    let Some(uptime) = shown.or_else(of_days) else {
        return fill(m.bars_no_data, &[("days", &number)]);
    };
    let percent = view.percent(&uptime);
    let pattern = match bad {
        0 => m.bars_good,
        1 => m.bars_one,
        _ => m.bars_bad,
    };
    fill(pattern, &[("days", &number), ("percent", &percent), ("bad", &bad.to_string())])
}

/// Response times by day: the median as a line, and a band up to the 95th percentile.
pub(super) fn response_chart(days: &[ResponseDay], label: &str) -> String {
    const WIDE: f64 = 600.0;
    const HIGH: f64 = 120.0;
    let max = days.iter().map(|day| day.p95.max(day.p50)).max().unwrap_or(1).max(1);
    let last = days.len().saturating_sub(1).max(1);
    let point = |index: usize, value: u32| {
        #[expect(clippy::cast_precision_loss)]
        let x = WIDE * index as f64 / last as f64;
        let y = HIGH - HIGH * f64::from(value) / f64::from(max);
        format!("{x:.1} {y:.1}")
    };
    let along = |value: fn(&ResponseDay) -> u32| {
        days.iter().enumerate().map(move |(index, day)| (index, value(day)))
    };
    let upper: Vec<String> = along(|day| day.p95).map(|(i, v)| point(i, v)).collect();
    let median: Vec<String> = along(|day| day.p50).map(|(i, v)| point(i, v)).collect();
    let back: Vec<&str> = median.iter().rev().map(String::as_str).collect();
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 600 120\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">\
         <path class=\"band\" d=\"M{}L{}z\"/><path class=\"line\" d=\"M{}\"/></svg>",
        wakeful_core::statuspages::markdown::escape(label),
        upper.join("L"),
        back.join("L"),
        median.join("L")
    )
}
