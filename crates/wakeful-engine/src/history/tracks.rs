//! The history of monitors as status pages show it: when each was checked and down, and the
//! same uptime figures as those of the monitor itself.

use std::sync::Arc;
use std::time::Duration;
use wakeful_core::history::rollup::{Detail, Distribution};
use wakeful_core::history::{DAY, HOUR, HistoryStatus, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::statuspages::uptime::{Shares, Spans, Track};
use wakeful_core::time::Millis;
use wakeful_store::{HistoryExtent, TeamStore};

use super::spans::{SpanReader, read_consistently};
use super::stats::tally;
use crate::Result;

/// What a status page needs of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrackQuery {
    /// Where the bars begin.
    pub(crate) from: Millis,
    /// Days of UTC are exact enough for the bars.
    pub(crate) by_day: bool,
    /// The beginnings of spans until now, the longest last.
    pub(crate) spans: Vec<Millis>,
    /// Whether the response times of the spans are needed.
    pub(crate) with_load: bool,
    /// Read this much, by day, for components of several monitors.
    pub(crate) long_from: Option<Millis>,
}

/// The history of one monitor.
#[derive(Clone, Debug, Default)]
pub(crate) struct MonitorTrack {
    /// For the bars.
    pub(crate) track: Track,
    /// For long spans.
    pub(crate) long: Option<Track>,
    /// How long it was up and down in each span, as `monitor/{id}/stats` counts it.
    pub(crate) spans: Vec<Shares>,
    /// The response times of each span, if they are needed.
    pub(crate) load: Vec<Distribution>,
}

/// How long a monitor was up and down, and its response times, if they are needed.
type SpanTotals = (Shares, Option<Box<Distribution>>);

/// The days of a monitor's history that are over. They are read again when something of its
/// history was compacted, counted again because of an exclusion, or deleted.
#[derive(Debug)]
pub(crate) struct PastTrack {
    query: TrackQuery,
    extent: HistoryExtent,
    until: Millis,
    checked: Spans,
    long: Option<Spans>,
    /// One for each span that begins before.
    spans: Vec<Option<SpanTotals>>,
}

impl PastTrack {
    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let loads =
            self.spans.iter().flatten().filter_map(|(_, load)| Some(load.as_ref()?.bytes()));
        let spans = self.spans.len() * size_of::<Option<SpanTotals>>();
        let query = self.query.spans.len() * size_of::<Millis>();
        let long = self.long.as_ref().map_or(0, Spans::bytes);
        size_of::<Self>() + self.checked.bytes() + long + spans + query + loads.sum::<usize>()
    }

    /// Reads the days before a time.
    async fn read(
        reader: &mut SpanReader<'_>,
        query: &TrackQuery,
        grain: Duration,
        until: Millis,
    ) -> Result<Self> {
        let checked = read_checked(reader, grain, start_of(grain, query.from), until).await?;
        let long = match query.long_from {
            Some(from) => Some(read_checked(reader, DAY, start_of(DAY, from), until).await?),
            None => None,
        };
        let mut spans = Vec::with_capacity(query.spans.len());
        // The longest first: its rows include most of the others.
        for from in query.spans.iter().rev() {
            spans.push(if *from < until {
                Some(read_span(reader, query, *from, until).await?)
            } else {
                None
            });
        }
        spans.reverse();
        let extent = *reader.extent();
        Ok(Self { query: query.clone(), extent, until, checked, long, spans })
    }
}

/// Reads the history of a monitor; `None` if the team has no such monitor. `known` is what an
/// earlier call has returned of the days that were over.
pub(crate) async fn monitor_track(
    team: &TeamStore<'_>,
    monitor: MonitorId,
    query: &TrackQuery,
    now: Millis,
    known: Option<Arc<PastTrack>>,
) -> Result<Option<(MonitorTrack, Option<Arc<PastTrack>>)>> {
    let Some(past) = team.history(monitor).await? else { return Ok(None) };
    let read = read_consistently(&past, now, Detail::Means, |reader| {
        let (query, known) = (query.clone(), known.clone());
        Box::pin(async move { read_track(reader, &query, now, known).await })
    });
    Ok(Some(read.await?))
}

async fn read_track(
    reader: &mut SpanReader<'_>,
    query: &TrackQuery,
    now: Millis,
    known: Option<Arc<PastTrack>>,
) -> Result<(MonitorTrack, Option<Arc<PastTrack>>)> {
    let has_hours = reader.extent().has_hours(query.from);
    let grain = if query.by_day || !has_hours { DAY } else { HOUR };
    let start = start_of(grain, query.from);
    let long_start = query.long_from.map(|from| start_of(DAY, from));
    let starts = query.spans.iter().copied().chain([start]).chain(long_start);
    let first = starts.min().unwrap_or(start);
    let begins = long_start.map_or(start, |long| long.max(start));
    let settled = reader.settled_until(first).await?.filter(|until| *until > begins);
    let past = match (settled, known) {
        (Some(until), Some(known))
            if known.until == until
                && known.extent == *reader.extent()
                && known.query == *query =>
        {
            Some(known)
        }
        (Some(until), _) => Some(Arc::new(PastTrack::read(reader, query, grain, until).await?)),
        (None, _) => None,
    };
    // What is not over, or everything.
    let present = past.as_ref().map_or(start, |past| past.until);
    let mut checked = read_checked(reader, grain, present, now).await?;
    if let Some(past) = &past {
        checked = past.checked.joined(&checked);
    }
    let mut track = MonitorTrack {
        track: Track { checked, down: read_down(reader, start, now) },
        ..MonitorTrack::default()
    };
    if let Some(start) = long_start {
        let known = past.as_ref().and_then(|past| past.long.as_ref());
        let from = if known.is_some() { present } else { start };
        let mut checked = read_checked(reader, DAY, from, now).await?;
        if let Some(known) = known {
            checked = known.joined(&checked);
        }
        track.long = Some(Track { checked, down: read_down(reader, start, now) });
    }
    let mut rest: Option<SpanTotals> = None;
    for (place, from) in query.spans.iter().enumerate().rev() {
        let known = past.as_ref().and_then(|past| past.spans[place].as_ref());
        let (mut shares, mut load) = match (known, &rest) {
            (Some(_), Some(rest)) => rest.clone(),
            (Some(_), None) => rest.insert(read_span(reader, query, present, now).await?).clone(),
            (None, _) => read_span(reader, query, *from, now).await?,
        };
        if let Some((up_to, times)) = known {
            shares = Shares { up: shares.up + up_to.up, down: shares.down + up_to.down };
            if let (Some(load), Some(times)) = (&mut load, times) {
                load.merge(times);
            }
        }
        track.spans.push(shares);
        track.load.push(load.map_or_else(Distribution::default, |load| *load));
    }
    track.spans.reverse();
    track.load.reverse();
    Ok((track, past))
}

async fn read_checked(
    reader: &mut SpanReader<'_>,
    grain: Duration,
    from: Millis,
    to: Millis,
) -> Result<Spans> {
    let parts = reader.by_grain(grain, from, to).await?;
    let (outages, exclusions) = (reader.past.outages(), reader.past.exclusions());
    Ok(Spans::checked(&parts.rollups, parts.before, outages, exclusions, (from, to)))
}

fn read_down(reader: &SpanReader<'_>, from: Millis, to: Millis) -> Spans {
    Spans::down(reader.past.outages(), reader.past.exclusions(), (from, to))
}

async fn read_span(
    reader: &mut SpanReader<'_>,
    query: &TrackQuery,
    from: Millis,
    to: Millis,
) -> Result<SpanTotals> {
    let stats = tally(reader, from, to).await?;
    let shares = Shares { up: stats.millis.up(), down: stats.millis[HistoryStatus::Down] };
    Ok((shares, query.with_load.then(|| Box::new(stats.times.load))))
}

/// The response times of each day of UTC from a time on.
pub(crate) async fn response_days(
    team: &TeamStore<'_>,
    monitor: MonitorId,
    from: Millis,
    now: Millis,
) -> Result<Vec<(Millis, Distribution)>> {
    let Some(past) = team.history(monitor).await? else { return Ok(Vec::new()) };
    let read = read_consistently(&past, now, Detail::Means, |reader| {
        Box::pin(async move {
            let parts = reader.by_grain(DAY, start_of(DAY, from), now).await?;
            let mut days: Vec<(Millis, Distribution)> = Vec::new();
            for rollup in parts.rollups {
                let day = start_of(DAY, rollup.first);
                match days.last_mut() {
                    Some((last, load)) if *last == day => load.merge(&rollup.times.load),
                    _ => days.push((day, rollup.times.load)),
                }
            }
            Ok(days)
        })
    });
    read.await
}
