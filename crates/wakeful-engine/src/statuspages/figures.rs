//! The figures of components: their bars, uptime, response times and certificates.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use std::collections::{HashMap, HashSet};
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
    self, ComponentFigures, ComponentStatus, Days, OutageSpan, ResponseDay, ResponseTimes, Uptime,
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
/// How many histories the figures of a page are computed from, those that several components
/// share included for each. The components beyond that show their status only.
pub(super) const MAX_HISTORIES: usize = 5_000;
/// How many of them are read for a preview, which is made for every change in an editor.
pub(super) const MAX_PREVIEW_HISTORIES: usize = 500;
/// The days of a component's own page.
const YEAR_DAYS: usize = 365;
/// The spans of uptime figures in days: a day, a week, a month, a quarter, a year.
const SPAN_DAYS: [u32; 5] = [1, 7, 30, 90, 365];
/// The most outages that the page of a component lists.
const MAX_OUTAGES: usize = 100;

/// Components that count from the same time on share the histories of their monitors.
type TrackKey = (MonitorId, Option<Millis>);

/// The days that are over.
pub(super) type PastTracks = HashMap<TrackKey, Arc<PastTrack>>;

/// What is computed of a component's history.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) days: Days,
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

/// What a component needs of the histories of its monitors.
struct Needed<'a> {
    component: ComponentId,
    monitors: &'a [MonitorId],
    /// From when on the component counts.
    since: Option<Millis>,
    with_load: bool,
    with_long: bool,
}

/// The histories and certificates that the figures of one page are computed from. Each is read
/// once, however many components show its monitor.
struct Histories<'a> {
    /// The components that are within the limits.
    planned: HashSet<ComponentId>,
    shared: HashMap<TrackKey, SharedTrack>,
    /// What was read and is needed again; `None` if the team has no such monitor.
    tracks: HashMap<TrackKey, Option<Arc<MonitorTrack>>>,
    certificates: HashMap<MonitorId, Option<Millis>>,
    past: &'a mut PastTracks,
    /// How many more may be used and read.
    unused: usize,
    unread: usize,
}

/// What all components together need of a history.
#[derive(Default)]
struct SharedTrack {
    with_load: bool,
    with_long: bool,
    /// How many components still need it.
    uses: usize,
}

/// A history that is to be read.
struct TrackRequest {
    monitor: MonitorId,
    query: TrackQuery,
    known: Option<Arc<PastTrack>>,
}

type FoundTrack = Option<(MonitorTrack, Option<Arc<PastTrack>>)>;

impl<'a> Histories<'a> {
    /// At most `max` histories are read.
    fn new(past: &'a mut PastTracks, max: usize) -> Self {
        Self {
            planned: HashSet::new(),
            shared: HashMap::new(),
            tracks: HashMap::new(),
            certificates: HashMap::new(),
            past,
            unused: MAX_HISTORIES,
            unread: max,
        }
    }

    /// Plans what a component needs, unless that exceeds the limits.
    fn plan(&mut self, needed: &Needed<'_>) {
        let key = |monitor: &MonitorId| (*monitor, needed.since);
        let count = needed.monitors.len();
        let is_new = |key: &TrackKey| !self.shared.contains_key(key);
        let new = needed.monitors.iter().map(key).filter(is_new).count();
        if count > self.unused || new > self.unread {
            return;
        }
        self.unused -= count;
        self.unread -= new;
        for monitor in needed.monitors {
            let shared = self.shared.entry(key(monitor)).or_default();
            shared.with_load |= needed.with_load;
            shared.with_long |= needed.with_long;
            shared.uses += 1;
        }
        self.planned.insert(needed.component);
    }

    /// Forgets the days of histories that the page no longer shows.
    fn prune_past(&mut self) {
        let shared = &self.shared;
        self.past.retain(|key, _| shared.contains_key(key));
    }

    /// What has to be read for a history, unless it was read already.
    fn request(
        &self,
        key: TrackKey,
        query: &TrackQuery,
        long_from: Millis,
    ) -> Option<TrackRequest> {
        let shared = self.shared.get(&key).filter(|_| !self.tracks.contains_key(&key))?;
        let query = TrackQuery {
            with_load: shared.with_load,
            long_from: shared.with_long.then_some(long_from),
            ..query.clone()
        };
        Some(TrackRequest { monitor: key.0, query, known: self.past.get(&key).map(Arc::clone) })
    }

    fn add(&mut self, key: TrackKey, found: FoundTrack) {
        let track = found.map(|(track, settled)| {
            if let Some(settled) = settled {
                self.past.insert(key, settled);
            }
            Arc::new(track)
        });
        self.tracks.insert(key, track);
    }

    /// A history that was read, for one component. The last one takes it, so that only those that
    /// are needed again take memory.
    fn take(&mut self, key: TrackKey) -> Option<Arc<MonitorTrack>> {
        let shared = self.shared.get_mut(&key)?;
        shared.uses = shared.uses.saturating_sub(1);
        if shared.uses == 0 {
            self.tracks.remove(&key).flatten()
        } else {
            self.tracks.get(&key).cloned().flatten()
        }
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

    /// The figures of all components of a page. At most `max` histories are read for them.
    pub(super) async fn page_figures(
        &self,
        page: &StatusPage,
        monitors: &HashMap<ComponentId, Vec<MonitorId>>,
        incidents: &[Incident],
        past: &mut PastTracks,
        now: Millis,
        max: usize,
    ) -> Result<HashMap<ComponentId, Figures>> {
        let monitors_of =
            |component: &Component| monitors.get(&component.id).map_or(&[][..], Vec::as_slice);
        let mut histories = Histories::new(past, max);
        let from_monitors = |one: &&Component| one.uptime_from() == UptimeFrom::Monitors;
        for component in page.components().filter(from_monitors) {
            let monitors = monitors_of(component);
            let said = Said::new(incidents, component.id, now);
            histories.plan(&Needed {
                component: component.id,
                monitors,
                since: component.settings.since,
                with_load: shows_response_times(page, component),
                with_long: monitors.len() != 1 || !said.maintenance().is_empty(),
            });
        }
        histories.prune_past();
        let mut figures = HashMap::new();
        for component in page.components() {
            if from_monitors(&component) && !histories.planned.contains(&component.id) {
                figures.insert(component.id, Figures::default());
                continue;
            }
            let said = Said::new(incidents, component.id, now);
            let monitors = monitors_of(component);
            let one = self.component_figures(page, component, monitors, &said, &mut histories);
            figures.insert(component.id, one.await?);
            // Computing from histories that were read for other components never waits.
            tokio::task::yield_now().await;
        }
        Ok(figures)
    }

    async fn component_figures(
        &self,
        page: &StatusPage,
        component: &Component,
        monitors: &[MonitorId],
        said: &Said<'_>,
        histories: &mut Histories<'_>,
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
                let query = TrackQuery {
                    from,
                    by_day: zone.name() == "UTC",
                    spans: starts,
                    with_load: false,
                    long_from: None,
                };
                let keys = monitors.iter().map(|monitor| (*monitor, component.settings.since));
                let keys: Vec<TrackKey> = keys.collect();
                let request = |key: &TrackKey| histories.request(*key, &query, spans[4]);
                let requests: Vec<TrackRequest> = keys.iter().filter_map(request).collect();
                for (monitor, found) in self.read_tracks(page, requests, now).await? {
                    histories.add((monitor, component.settings.since), found);
                }
                let tracks: Vec<Arc<MonitorTrack>> =
                    keys.into_iter().filter_map(|key| histories.take(key)).collect();
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
                let first_expiry = self.first_expiry(page, component, monitors, histories).await?;
                Ok(Figures {
                    days: days(&dates, &bounds, &all, &colored, &maintenance),
                    uptime: uptime_figures(figures, shown),
                    response_times: response_times(&tracks),
                    certificate_expires: first_expiry,
                    since: component
                        .settings
                        .since
                        .or_else(|| of_bars.iter().filter_map(|track| track.checked.start()).min())
                        .map(|since| zone.local(since).date()),
                })
            }
        }
    }

    /// Reads the histories of monitors, in this order; `None` if the team has no such monitor.
    async fn read_tracks(
        &self,
        page: &StatusPage,
        requests: Vec<TrackRequest>,
        now: Millis,
    ) -> Result<Vec<(MonitorId, FoundTrack)>> {
        let team = &self.shown_team(page);
        let mut read = Vec::with_capacity(requests.len());
        let mut requests = requests.into_iter();
        while !requests.as_slice().is_empty() {
            let some: Vec<TrackRequest> = requests.by_ref().take(MAX_PER_TURN).collect();
            let _turn = self.history_turn(page.team).await?;
            let each = stream::iter(some).map(|request| async move {
                let TrackRequest { monitor, query, known } = request;
                let found = monitor_track(team, monitor, &query, now, known).await?;
                Ok::<_, Error>((monitor, found))
            });
            let found: Vec<_> = each.buffered(MAX_CONCURRENT).try_collect().await?;
            read.extend(found);
        }
        Ok(read)
    }

    async fn first_expiry(
        &self,
        page: &StatusPage,
        component: &Component,
        monitors: &[MonitorId],
        histories: &mut Histories<'_>,
    ) -> Result<Option<Millis>> {
        let default = page.settings.display.certificates;
        if !component.settings.display.certificate.unwrap_or(default) {
            return Ok(None);
        }
        let team = self.shown_team(page);
        let mut first: Option<Millis> = None;
        for monitor in monitors {
            let expires = match histories.certificates.get(monitor) {
                Some(known) => *known,
                None => {
                    let found = team.certificate(*monitor).await?;
                    let expires = found.map(|found| found.certificate.not_after);
                    histories.certificates.insert(*monitor, expires);
                    expires
                }
            };
            first = first.into_iter().chain(expires).min();
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
                let request = |monitor: &MonitorId| TrackRequest {
                    monitor: *monitor,
                    query: query.clone(),
                    known: None,
                };
                let requests: Vec<TrackRequest> = monitors.iter().map(request).collect();
                let read = self.read_tracks(&page, requests, now).await?;
                let found = read.into_iter().filter_map(|(_, found)| found);
                found.map(|(history, _)| history.track).collect()
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
        let with_times = shows_response_times(&page, component);
        Ok(ComponentFigures {
            days: days(&dates, &bounds, &all, &colored, &maintenance),
            response_times: if with_times {
                Some(self.response_days(&page, monitors, from, now).await?)
            } else {
                None
            },
            outages: display
                .outages
                .then(|| outages(&tracks, &maintenance, page.settings.shown_after, now)),
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

fn shows_response_times(page: &StatusPage, component: &Component) -> bool {
    component.settings.display.response_time.unwrap_or(page.settings.display.response_times)
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
fn response_times(tracks: &[Arc<MonitorTrack>]) -> ResponseTimes {
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

/// The outages of all monitors outside published maintenance, newest first.
fn outages(
    tracks: &[Track],
    maintenance: &Spans,
    shown_after: u32,
    now: Millis,
) -> Vec<OutageSpan> {
    let least = i64::from(shown_after) * 1_000;
    let all = Spans::new(tracks.iter().flat_map(|track| track.down.iter().collect::<Vec<_>>()));
    let all = all.without(maintenance);
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

    fn monitors(numbers: std::ops::Range<u8>) -> Vec<MonitorId> {
        numbers.map(|number| MonitorId::new(Millis(0), [number; 10])).collect()
    }

    fn component(number: u8) -> ComponentId {
        ComponentId::new(Millis(0), [number; 10])
    }

    fn needed(number: u8, monitors: &[MonitorId]) -> Needed<'_> {
        let component = component(number);
        Needed { component, monitors, since: None, with_load: false, with_long: false }
    }

    fn query() -> TrackQuery {
        TrackQuery {
            from: Millis(0),
            by_day: true,
            spans: Vec::new(),
            with_load: false,
            long_from: None,
        }
    }

    #[test]
    fn components_beyond_the_limit_have_no_figures() {
        let mut past = PastTracks::new();
        let mut histories = Histories::new(&mut past, 5);
        for (number, range) in [(1, 0..3), (2, 3..6), (3, 3..5), (4, 0..5), (5, 0..0), (6, 9..10)] {
            histories.plan(&needed(number, &monitors(range)));
        }
        let is_planned = |number: &u8| histories.planned.contains(&component(*number));
        // The second reads too much; a smaller one, or one that shows the same, still fits.
        assert_eq!((1..=6).filter(is_planned).collect::<Vec<_>>(), [1, 3, 4, 5]);
    }

    #[test]
    fn a_history_that_many_components_show_is_read_once() {
        let (mut past, all) = (PastTracks::new(), monitors(0..10));
        let mut histories = Histories::new(&mut past, 10);
        let mut components: Vec<u16> = Vec::new();
        for number in 0..501_u16 {
            let [high, low] = number.to_be_bytes();
            let id = ComponentId::new(Millis(0), [high, low, 0, 0, 0, 0, 0, 0, 0, 0]);
            histories.plan(&Needed { component: id, ..needed(0, &all) });
            if histories.planned.contains(&id) {
                components.push(number);
            }
        }
        // Those are as many as a page may use.
        assert_eq!(components.len() * all.len(), MAX_HISTORIES);
        let mut read = 0;
        for _ in &components {
            for monitor in &all {
                let key = (*monitor, None);
                if histories.request(key, &query(), Millis(0)).is_some() {
                    read += 1;
                    histories.add(key, Some((MonitorTrack::default(), None)));
                }
                assert!(histories.take(key).is_some(), "each component gets it");
            }
        }
        assert_eq!(read, all.len());
        assert!(histories.tracks.is_empty(), "nothing is needed again");
    }

    #[test]
    fn a_shared_history_is_read_with_all_that_its_components_need() {
        let (mut past, one) = (PastTracks::new(), monitors(0..1));
        let mut histories = Histories::new(&mut past, 2);
        histories.plan(&needed(1, &one));
        histories.plan(&Needed { with_load: true, ..needed(2, &one) });
        histories.plan(&Needed { with_long: true, ..needed(3, &one) });
        // Another beginning is another history.
        let since = Some(Millis(7));
        histories.plan(&Needed { since, ..needed(4, &one) });
        histories.plan(&Needed { since: Some(Millis(8)), ..needed(5, &one) });
        assert!(!histories.planned.contains(&component(5)), "too many to read");
        let request = |since| histories.request((one[0], since), &query(), Millis(3));
        let queries = [None, since].map(|since| request(since).map(|request| request.query));
        let together = TrackQuery { with_load: true, long_from: Some(Millis(3)), ..query() };
        assert_eq!(queries, [Some(together), Some(query())]);
    }

    #[test]
    fn a_monitor_that_the_team_does_not_have_is_not_searched_twice() {
        let (mut past, one) = (PastTracks::new(), monitors(0..1));
        let mut histories = Histories::new(&mut past, 1);
        histories.plan(&needed(1, &one));
        histories.plan(&needed(2, &one));
        let key = (one[0], None);
        histories.add(key, None);
        assert!(histories.request(key, &query(), Millis(0)).is_none());
        assert!(histories.take(key).is_none());
    }
}
