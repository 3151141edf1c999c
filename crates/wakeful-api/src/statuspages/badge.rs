//! Which badges a page has. Anything that it does not show is the same gray badge.

use wakeful_core::statuspages::badge::Badge;
use wakeful_core::statuspages::snapshot::{
    Component, ResponseTimes, Snapshot, Uptime, UptimeFigures,
};
use wakeful_core::time::Millis;

/// A badge of the page or of a component by its path, such as `uptime/90d`, without the
/// extension. The label of what does not exist is the first part of its path.
pub(super) fn find(
    path: &str,
    snapshot: Option<&Snapshot>,
    component: Subject<'_>,
    now: Millis,
) -> Badge {
    let (kind, period) = path.split_once('/').unwrap_or((path, ""));
    let label = label(kind, period);
    let found = snapshot.and_then(|snapshot| match component {
        Subject::Page => of_page(kind, period, &label, snapshot),
        Subject::Component(name) => {
            of_component(kind, period, &label, snapshot, snapshot.component(name)?, now)
        }
    });
    found.unwrap_or_else(|| Badge::not_available(&label))
}

/// What a badge is about.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    Page,
    /// By its id or its alias.
    Component(&'a str),
}

fn label(kind: &str, period: &str) -> String {
    match (kind, period) {
        ("uptime", "24h" | "7d" | "30d" | "90d" | "365d") => format!("uptime {period}"),
        ("response", "24h" | "7d" | "30d" | "90d") => format!("response {period}"),
        ("uptime" | "response" | "certificate", _) => kind.to_owned(),
        _ => "status".to_owned(),
    }
}

fn of_page(kind: &str, period: &str, label: &str, snapshot: &Snapshot) -> Option<Badge> {
    let decimals = snapshot.page.display.decimals;
    match (kind, period) {
        ("status", "") => Some(Badge::of_page(snapshot.status.indicator, snapshot.status.no_data)),
        ("uptime", _) => {
            let figures = snapshot.components().filter_map(|one| one.uptime.as_ref());
            let uptimes = figures.filter_map(|figures| uptime(figures, period).flatten());
            Some(Badge::of_uptime(label, Uptime::mean(uptimes), decimals))
        }
        _ => None,
    }
}

fn of_component(
    kind: &str,
    period: &str,
    label: &str,
    snapshot: &Snapshot,
    component: &Component,
    now: Millis,
) -> Option<Badge> {
    match (kind, period) {
        ("status", "") => Some(Badge::of_component(component.status)),
        ("uptime", _) => {
            let found = uptime(component.uptime.as_ref()?, period)?;
            Some(Badge::of_uptime(label, found, snapshot.page.display.decimals))
        }
        ("response", _) => {
            let millis = response(component.response_times.as_ref()?, period)??;
            Some(Badge::new(label, format!("{millis} ms"), "blue"))
        }
        ("certificate", "") => {
            let days = component.certificate_expires?.since(now).as_secs() / 86_400;
            let color = match days {
                0..=6 => "red",
                7..=20 => "yellow",
                _ => "brightgreen",
            };
            let unit = if days == 1 { "day" } else { "days" };
            Some(Badge::new(label, format!("{days} {unit}"), color))
        }
        _ => None,
    }
}

fn uptime(figures: &UptimeFigures, period: &str) -> Option<Option<Uptime>> {
    match period {
        "24h" => Some(figures.day),
        "7d" => Some(figures.week),
        "30d" => Some(figures.month),
        "90d" => Some(figures.quarter),
        "365d" => Some(figures.year),
        _ => None,
    }
}

fn response(times: &ResponseTimes, period: &str) -> Option<Option<u32>> {
    match period {
        "24h" => Some(times.day),
        "7d" => Some(times.week),
        "30d" => Some(times.month),
        "90d" => Some(times.quarter),
        _ => None,
    }
}
