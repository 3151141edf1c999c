//! The history of monitors as status pages show it: when each was checked and down, and the
//! same uptime figures as those of the monitor itself.

use std::time::Duration;
use wakeful_core::history::rollup::{Detail, Distribution};
use wakeful_core::history::{DAY, HOUR, HistoryStatus, Outage, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::statuspages::uptime::{Shares, Track};
use wakeful_core::time::Millis;
use wakeful_store::TeamStore;

use super::spans::{SpanReader, read_consistently};
use super::stats::tally;
use crate::Result;

/// What a status page needs of a monitor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackQuery<'a> {
    /// Where the bars begin.
    pub(crate) from: Millis,
    pub(crate) now: Millis,
    /// Days of UTC are exact enough for the bars.
    pub(crate) by_day: bool,
    /// The beginnings of spans until now, the longest last.
    pub(crate) spans: &'a [Millis],
    /// Read this much, by day, for components of several monitors.
    pub(crate) long_from: Option<Millis>,
}

/// The history of one monitor.
#[derive(Clone, Debug)]
pub(crate) struct MonitorTrack {
    /// For the bars.
    pub(crate) track: Track,
    /// For long spans.
    pub(crate) long: Option<Track>,
    /// How long it was up and down in each span, as `monitor/{id}/stats` counts it.
    pub(crate) spans: Vec<Shares>,
    /// The response times of each span.
    pub(crate) load: Vec<Distribution>,
}

/// Reads the history of a monitor; `None` if the team has no such monitor.
pub(crate) async fn monitor_track(
    team: &TeamStore<'_>,
    monitor: MonitorId,
    query: TrackQuery<'_>,
) -> Result<Option<MonitorTrack>> {
    let Some(past) = team.history(monitor).await? else { return Ok(None) };
    let TrackQuery { from, now, by_day, long_from, .. } = query;
    let read = read_consistently(&past, now, Detail::Means, |reader| {
        let (outages, starts) = (past.outages().to_vec(), query.spans.to_vec());
        Box::pin(async move {
            let has_hours = reader.extent().has_hours(from);
            let grain = if by_day || !has_hours { DAY } else { HOUR };
            let track = read_track(reader, &outages, grain, from, now).await?;
            let long = match long_from {
                Some(from) => Some(read_track(reader, &outages, DAY, from, now).await?),
                None => None,
            };
            let (mut spans, mut load) = (Vec::new(), Vec::new());
            // The longest first: its rows include most of the others.
            for from in starts.iter().rev() {
                let stats = tally(reader, *from, now).await?;
                spans.push(Shares {
                    up: stats.millis.up(),
                    down: stats.millis[HistoryStatus::Down],
                });
                load.push(stats.times.load);
            }
            spans.reverse();
            load.reverse();
            Ok(MonitorTrack { track, long, spans, load })
        })
    });
    Ok(Some(read.await?))
}

async fn read_track(
    reader: &mut SpanReader<'_>,
    outages: &[Outage],
    grain: Duration,
    from: Millis,
    now: Millis,
) -> Result<Track> {
    let start = start_of(grain, from);
    let parts = reader.by_grain(grain, start, now).await?;
    Ok(Track::of(&parts.rollups, parts.before, outages, (start, now)))
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
