//! The figures of components: their bars, uptime, response times and certificates.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use std::collections::HashMap;
use std::sync::Arc;
use wakeful_core::access::TeamAccess;
use wakeful_core::calendar::Date;
use wakeful_core::history::rollup::Distribution;
use wakeful_core::history::{DAY, HOUR, start_of};
use wakeful_core::id::{ComponentId, MonitorId};
use wakeful_core::statuspages::component::{Component, UptimeFrom};
use wakeful_core::statuspages::incident::Incident;
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::statuspages::snapshot::{
    self, ComponentFigures, ComponentStatus, Day, OutageSpan, ResponseDay, ResponseTimes, Uptime,
    UptimeFigures,
};
use wakeful_core::statuspages::uptime::{
    Shares, Spans, Track, days, days_until, sweep, sweep_incidents,
};
use wakeful_core::time::Millis;
use wakeful_store::TeamStore;

use crate::history::tracks::{MonitorTrack, PastTrack, TrackQuery, monitor_track, response_days};
use crate::{Engine, Error, Result};

/// How many monitors of a page are read concurrently: others need connections, too.
const MAX_CONCURRENT: usize = 3;
/// How many of them are read in one turn of the team.
const MAX_PER_TURN: usize = 32;
/// How many histories the figures of a page are computed from. The components beyond that show
/// their status only.
const MAX_HISTORIES: usize = 5_000;
/// The days of a component's own page.
const YEAR_DAYS: usize = 365;
/// The spans of uptime figures in days: a day, a week, a month, a quarter, a year.
const SPAN_DAYS: [u32; 5] = [1, 7, 30, 90, 365];
/// The most outages that the page of a component lists.
const MAX_OUTAGES: usize = 100;

/// The days that are over, of the monitors of each component.
pub(super) type PastTracks = HashMap<(ComponentId, MonitorId), Arc<PastTrack>>;

/// What is computed of a component's history.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) days: Vec<Day>,
    pub(super) uptime: UptimeFigures,
    pub(super) response_times: ResponseTimes,
    pub(super) certificate_expires: Option<Millis>,
    /// From when on there is data.
    pub(super) since: Option<Date>,
}

impl Figures {
    /// Those of an earlier snapshot.
    pub(super) fn of(component: &snapshot::Component) -> Self {
        Self {
            days: component.days.clone(),
            uptime: component.uptime.unwrap_or_default(),
            response_times: component.response_times.unwrap_or_default(),
            certificate_expires: component.certificate_expires,
            since: component.since,
        }
    }
}

/// What incidents say about the history of a component.
pub(super) struct Said<'a> {
    incidents: &'a [Incident],
    component: ComponentId,
    now: Millis,
}

impl<'a> Said<'a> {
    pub(super) fn new(incidents: &'a [Incident], component: ComponentId, now: Millis) -> Self {
        Self { incidents, component, now }
    }

    fn naming(&self) -> impl Iterator<Item = &'a Incident> {
        let component = self.component;
        let is_named = move |incident: &&Incident| {
            incident.is_published() && incident.components.iter().any(|one| one.id == component)
        };
        self.incidents.iter().filter(is_named)
    }

    /// Published maintenance of the component.
    fn maintenance(&self) -> Spans {
        Spans::new(self.naming().filter_map(|incident| incident.maintenance_span(self.now)))
    }

    fn statuses(&self) -> Vec<(Millis, Millis, ComponentStatus)> {
        self.naming().flat_map(|incident| incident.statuses(self.component, self.now)).collect()
    }
}

impl Engine {
    /// The data of a page's team, with or without a caller.
    #[expect(
        clippy::disallowed_methods,
        reason = "a status page shows what its team has chosen, without a caller"
    )]
    pub(super) fn shown_team(&self, page: &StatusPage) -> TeamStore<'_> {
        self.store().team(&TeamAccess::whole(page.team))
    }

    /// The figures of all components of a page.
    pub(super) async fn page_figures(
        &self,
        page: &StatusPage,
        monitors: &HashMap<ComponentId, Vec<MonitorId>>,
        incidents: &[Incident],
        past: &mut PastTracks,
        now: Millis,
    ) -> Result<HashMap<ComponentId, Figures>> {
        let mut figures = HashMap::new();
        past.retain(|(component, monitor), _| {
            monitors.get(component).is_some_and(|monitors| monitors.contains(monitor))
        });
        let mut left = MAX_HISTORIES;
        for component in page.components() {
            let monitors = monitors.get(&component.id).map_or(&[][..], Vec::as_slice);
            let is_read = component.uptime_from() == UptimeFrom::Monitors;
            if is_read && !takes(&mut left, monitors.len()) {
                figures.insert(component.id, Figures::default());
                continue;
            }
            let said = Said::new(incidents, component.id, now);
            let one = self.component_figures(page, component, monitors, &said, past).await?;
            figures.insert(component.id, one);
        }
        Ok(figures)
    }

    async fn component_figures(
        &self,
        page: &StatusPage,
        component: &Component,
        monitors: &[MonitorId],
        said: &Said<'_>,
        past: &mut PastTracks,
    ) -> Result<Figures> {
        let (now, zone) = (said.now, page.zone());
        let count = page.settings.display.history_days as usize;
        let (dates, bounds) = days_until(now, count, &zone);
        let spans = spans(now, component.settings.since);
        let maintenance = said.maintenance();
        match component.uptime_from() {
            UptimeFrom::None => Ok(Figures::default()),
            UptimeFrom::Incidents => {
                let since = component.settings.since.unwrap_or(component.created);
                let statuses = said.statuses();
                let swept =
                    |bounds: &[Millis]| sweep_incidents(&statuses, since, &maintenance, bounds);
                let shares = swept(&bounds);
                let figure = |from: Millis| swept(&[from, now])[0].uptime();
                Ok(Figures {
                    days: days(&dates, &bounds, &shares, &shares, &maintenance),
                    uptime: uptime_figures(spans.map(figure), shown(&shares)),
                    since: Some(zone.local(since).date()),
                    ..Figures::default()
                })
            }
            UptimeFrom::Monitors => {
                let mut starts = spans.to_vec();
                let from = component.settings.since.map_or(bounds[0], |since| since.max(bounds[0]));
                starts.push(from);
                let is_single = monitors.len() == 1 && maintenance.is_empty();
                let own = component.settings.display.response_time;
                let query = TrackQuery {
                    from,
                    by_day: zone.name() == "UTC",
                    spans: starts,
                    with_load: own.unwrap_or(page.settings.display.response_times),
                    long_from: (!is_single).then_some(spans[4]),
                };
                let known = Some((component.id, past));
                let tracks = self.tracks(page, monitors, &query, now, known).await?;
                let needs = component.settings.needs;
                let of_bars: Vec<Track> = tracks.iter().map(|one| one.track.clone()).collect();
                let all = sweep(&of_bars, needs, &maintenance, &bounds);
                let least = page.settings.shown_after;
                let long_enough: Vec<Track> =
                    of_bars.iter().map(|track| track.without_short(least)).collect();
                let colored = sweep(&long_enough, needs, &maintenance, &bounds);
                let (figures, shown) = if is_single {
                    let figure = |place: usize| {
                        tracks.first().and_then(|one| one.spans.get(place)?.uptime())
                    };
                    ([0, 1, 2, 3, 4].map(figure), figure(5))
                } else {
                    let long: Vec<Track> =
                        tracks.iter().filter_map(|one| one.long.clone()).collect();
                    let figure =
                        |from: Millis| sweep(&long, needs, &maintenance, &[from, now])[0].uptime();
                    (spans.map(figure), shown(&all))
                };
                Ok(Figures {
                    days: days(&dates, &bounds, &all, &colored, &maintenance),
                    uptime: uptime_figures(figures, shown),
                    response_times: response_times(&tracks),
                    certificate_expires: self.first_expiry(page, component, monitors).await?,
                    since: component
                        .settings
                        .since
                        .or_else(|| of_bars.iter().filter_map(|track| track.checked.start()).min())
                        .map(|since| zone.local(since).date()),
                })
            }
        }
    }

    /// The histories of monitors. What is over is taken from `past`, and added to it.
    async fn tracks(
        &self,
        page: &StatusPage,
        monitors: &[MonitorId],
        query: &TrackQuery,
        now: Millis,
        mut past: Option<(ComponentId, &mut PastTracks)>,
    ) -> Result<Vec<MonitorTrack>> {
        let team = self.shown_team(page);
        let known = |monitor| {
            let (component, past) = past.as_ref()?;
            past.get(&(*component, monitor)).map(Arc::clone)
        };
        let mut read = Vec::with_capacity(monitors.len());
        for some in monitors.chunks(MAX_PER_TURN) {
            let _turn = self.history_turn(page.team).await?;
            let wanted: Vec<_> = some.iter().map(|one| (*one, known(*one))).collect();
            let each = stream::iter(wanted).map(|(monitor, known)| {
                let track = monitor_track(&team, monitor, query, now, known);
                async move { Ok::<_, Error>((monitor, track.await?)) }
            });
            let found: Vec<_> = each.buffered(MAX_CONCURRENT).try_collect().await?;
            read.extend(found);
        }
        let mut tracks = Vec::with_capacity(read.len());
        for (monitor, found) in read {
            let Some((track, settled)) = found else { continue };
            tracks.push(track);
            if let (Some((component, past)), Some(settled)) = (&mut past, settled) {
                past.insert((*component, monitor), settled);
            }
        }
        Ok(tracks)
    }

    async fn first_expiry(
        &self,
        page: &StatusPage,
        component: &Component,
        monitors: &[MonitorId],
    ) -> Result<Option<Millis>> {
        let default = page.settings.display.certificates;
        if !component.settings.display.certificate.unwrap_or(default) {
            return Ok(None);
        }
        let team = self.shown_team(page);
        let mut first: Option<Millis> = None;
        for monitor in monitors {
            if let Some(found) = team.certificate(*monitor).await? {
                let expires = found.certificate.not_after;
                first = Some(first.map_or(expires, |first| first.min(expires)));
            }
        }
        Ok(first)
    }

    /// What only the page of a component shows, read on demand.
    pub async fn component_page_figures(
        &self,
        page: wakeful_core::id::StatuspageId,
        team: wakeful_core::id::TeamId,
        component: ComponentId,
    ) -> Result<ComponentFigures> {
        let missing = || Error::NotFound("component");
        let stored = self.store().shown_statuspage(page, team).await?.ok_or_else(missing)?;
        let page = stored.page;
        let component = page.components().find(|one| one.id == component).ok_or_else(missing)?;
        let monitors = self.monitors_of(&page).await?.ids();
        let monitors = monitors.get(&component.id).map_or(&[][..], Vec::as_slice);
        let incidents = self.store().shown_incidents(page.id).await?;
        let now = self.now();
        let said = Said::new(&incidents, component.id, now);
        let zone = page.zone();
        let (dates, bounds) = days_until(now, YEAR_DAYS, &zone);
        let maintenance = said.maintenance();
        let from = component.settings.since.map_or(bounds[0], |since| since.max(bounds[0]));
        let query = TrackQuery {
            from,
            by_day: zone.name() == "UTC",
            spans: Vec::new(),
            with_load: false,
            long_from: None,
        };
        let tracks: Vec<Track> = match component.uptime_from() {
            UptimeFrom::Monitors => {
                let tracks = self.tracks(&page, monitors, &query, now, None).await?;
                tracks.into_iter().map(|one| one.track).collect()
            }
            UptimeFrom::Incidents | UptimeFrom::None => Vec::new(),
        };
        let (all, colored) = match component.uptime_from() {
            UptimeFrom::Incidents => {
                let since = component.settings.since.unwrap_or(component.created);
                let shares = sweep_incidents(&said.statuses(), since, &maintenance, &bounds);
                (shares.clone(), shares)
            }
            UptimeFrom::Monitors | UptimeFrom::None => {
                let needs = component.settings.needs;
                let least = page.settings.shown_after;
                let long: Vec<Track> = tracks.iter().map(|one| one.without_short(least)).collect();
                let all = sweep(&tracks, needs, &maintenance, &bounds);
                (all, sweep(&long, needs, &maintenance, &bounds))
            }
        };
        let display = &page.settings.display;
        let with_times = component.settings.display.response_time.unwrap_or(display.response_times);
        Ok(ComponentFigures {
            days: days(&dates, &bounds, &all, &colored, &maintenance),
            response_times: if with_times {
                Some(self.response_days(&page, monitors, from, now).await?)
            } else {
                None
            },
            outages: display.outages.then(|| outages(&tracks, page.settings.shown_after, now)),
        })
    }

    async fn response_days(
        &self,
        page: &StatusPage,
        monitors: &[MonitorId],
        from: Millis,
        now: Millis,
    ) -> Result<Vec<ResponseDay>> {
        let team = self.shown_team(page);
        let mut days: std::collections::BTreeMap<Millis, Distribution> = Default::default();
        for some in monitors.chunks(MAX_PER_TURN) {
            let _turn = self.history_turn(page.team).await?;
            for monitor in some {
                for (day, load) in response_days(&team, *monitor, from, now).await? {
                    days.entry(day).or_default().merge(&load);
                }
            }
        }
        let zone = wakeful_core::calendar::zone::Zone::utc();
        let day = |(day, load): (Millis, Distribution)| {
            let date = zone.local(day).date();
            Some(ResponseDay { date, p50: millis(&load, 0.5)?, p95: millis(&load, 0.95)? })
        };
        Ok(days.into_iter().filter_map(day).collect())
    }
}

/// Whether so many are left, and takes them.
fn takes(left: &mut usize, count: usize) -> bool {
    let rest = left.checked_sub(count);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// Where each span of uptime figures begins: with a full hour, as those of monitors.
fn spans(now: Millis, since: Option<Millis>) -> [Millis; 5] {
    SPAN_DAYS.map(|days| {
        let start = start_of(HOUR, now.before(DAY * days));
        since.map_or(start, |since| since.max(start)).min(now)
    })
}

fn shown(shares: &[Shares]) -> Option<Uptime> {
    let up = shares.iter().map(|one| one.up).sum();
    Uptime::of(up, shares.iter().map(|one| one.down).sum())
}

fn uptime_figures(spans: [Option<Uptime>; 5], shown: Option<Uptime>) -> UptimeFigures {
    let [day, week, month, quarter, year] = spans;
    UptimeFigures { day, week, month, quarter, year, shown }
}

/// The median response times of all monitors together.
fn response_times(tracks: &[MonitorTrack]) -> ResponseTimes {
    let of = |place: usize| {
        let mut load = Distribution::default();
        tracks.iter().filter_map(|one| one.load.get(place)).for_each(|one| load.merge(one));
        millis(&load, 0.5)
    };
    ResponseTimes { day: of(0), week: of(1), month: of(2), quarter: of(3) }
}

/// A percentile in milliseconds.
fn millis(load: &Distribution, share: f64) -> Option<u32> {
    load.sketch.quantile(share).map(|micros| (micros / 1_000.0).round() as u32)
}

/// The outages of all monitors, newest first.
fn outages(tracks: &[Track], shown_after: u32, now: Millis) -> Vec<OutageSpan> {
    let least = i64::from(shown_after) * 1_000;
    let all = Spans::new(tracks.iter().flat_map(|track| track.down.iter().collect::<Vec<_>>()));
    let mut spans: Vec<OutageSpan> = all
        .iter()
        .filter(|(from, to)| to.0 - from.0 >= least)
        .map(|(started, to)| OutageSpan { started, ended: (to < now).then_some(to) })
        .collect();
    spans.reverse();
    spans.truncate(MAX_OUTAGES);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_beyond_the_limit_have_no_figures() {
        let mut left = 5;
        assert!(takes(&mut left, 3));
        assert!(!takes(&mut left, 3), "too many");
        assert!(takes(&mut left, 2), "a smaller one still fits");
        assert!(takes(&mut left, 0));
        assert!(!takes(&mut left, 1));
    }
}
