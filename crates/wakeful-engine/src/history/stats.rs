//! The statistics of monitors: for the standard spans, for any span, as a series for a
//! chart, and as summaries of many monitors.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::history::by_region::{RegionSeries, by_region};
use wakeful_core::history::readings::{ReadingStats, readings_per_step};
use wakeful_core::history::rollup::{Detail, Distribution};
use wakeful_core::history::stats::{OutageStats, SpanStats, stats_per_step};
use wakeful_core::history::{DAY, Entry, HOUR, series_step, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::named_enum;
use wakeful_core::slo::{Slo, SloReport};
use wakeful_core::time::Millis;
use wakeful_store::{HeartbeatRange, TeamStore};

use super::spans::{SpanParts, SpanReader, read_consistently};
use crate::caller::Authorized;
use crate::{Engine, Error, Result};

/// The standard spans and their lengths in days.
pub const STANDARD_SPANS: [(&str, u32); 5] =
    [("24h", 1), ("7d", 7), ("30d", 30), ("90d", 90), ("365d", 365)];
/// How many monitors are read concurrently.
pub(super) const MAX_CONCURRENT: usize = 8;
/// More single heartbeats than this are not read for one chart.
const MAX_HEARTBEATS: u64 = 20_000;

/// The statistics of one span.
#[derive(Clone, Debug)]
pub struct Stats {
    /// The name of a standard span.
    pub span: Option<&'static str>,
    pub tally: SpanStats,
    pub outages: OutageStats,
    /// For long spans, those of whole days.
    pub phases: [Distribution; 5],
}

#[derive(Clone, Debug)]
pub struct Series {
    pub from: Millis,
    pub to: Millis,
    pub step: Duration,
    pub source: Source,
    pub points: Vec<SpanStats>,
    /// What the checks of a step have measured; empty for most monitors.
    pub readings: BTreeMap<Millis, [Option<ReadingStats>; 2]>,
}

named_enum! {
    /// The data that the points of a series are computed from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Source {
        Raw = "raw",
        Hour = "hour",
        Day = "day",
    }
}

impl Source {
    fn unit(self) -> Duration {
        match self {
            Self::Raw => Duration::from_secs(1),
            Self::Hour => HOUR,
            Self::Day => DAY,
        }
    }
}

/// A summary of one monitor.
#[derive(Clone, Debug)]
pub struct Summary {
    pub monitor: MonitorId,
    pub day: SpanStats,
    pub month: SpanStats,
    /// The newest heartbeats, newest last.
    pub beats: Vec<Entry>,
}

/// The statistics of a monitor.
#[derive(Clone, Debug)]
pub struct MonitorStats {
    pub spans: Vec<Stats>,
    /// The time within which a target responds as fast as its users expect.
    pub apdex: Option<Duration>,
    pub slo: Option<SloReport>,
}

impl Engine {
    /// The standard spans until now, which begin with a full hour, or one span, as exact as the
    /// stored history allows. `apdex` is the limit for fast checks, by default the monitor's
    /// limit for slow ones.
    pub async fn monitor_stats(
        &self,
        caller: &Authorized<permission::View>,
        monitor: MonitorId,
        span: Option<(Millis, Millis)>,
        apdex: Option<Duration>,
    ) -> Result<MonitorStats> {
        let team = self.store().team(caller.team_access());
        let past = team.history(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let now = self.now();
        let slo = past.slo();
        let (spans, slo) = read_consistently(&past, now, Detail::Full, |reader| {
            Box::pin(async move {
                let spans = match span {
                    None => standard_stats_of(reader, now).await?,
                    Some((from, to)) => vec![stats_of(reader, from, to).await?],
                };
                let slo = match slo {
                    Some(slo) => Some(slo_report(reader, &slo, now).await?),
                    None => None,
                };
                Ok((spans, slo))
            })
        })
        .await?;
        Ok(MonitorStats { spans, apdex: apdex.or(past.slow_limit()), slo })
    }

    /// At most `points` equal steps of a span.
    pub async fn series(
        &self,
        caller: &Authorized<permission::View>,
        monitor: MonitorId,
        span: Range<Millis>,
        points: u32,
    ) -> Result<Series> {
        let team = self.store().team(caller.team_access());
        let past = team.history(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let depth = Detail::Means;
        let mut series = read_consistently(&past, self.now(), depth, |reader| {
            Box::pin(series_of(reader, span.start, span.end, points))
        })
        .await?;
        if past.has_readings() && series.source == Source::Raw {
            // Including a heartbeat of this millisecond.
            let until = Millis(series.to.min(self.now()).0 + 1);
            let entries = past.heartbeats(series.from, until).await?;
            series.readings = readings_per_step(&entries, series.from, series.step);
        }
        Ok(series)
    }

    /// The results of each region in the steps of a series. Hours and days do not contain
    /// them: a series of hours or days has none.
    pub async fn region_series(
        &self,
        caller: &Authorized<permission::View>,
        monitor: MonitorId,
        series: &Series,
    ) -> Result<Vec<RegionSeries>> {
        if series.source != Source::Raw {
            return Ok(Vec::new());
        }
        let team = self.store().team(caller.team_access());
        let past = team.history(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let until = series.to.min(Millis(self.now().0 + 1));
        let entries = past.heartbeats(series.from, until).await?;
        Ok(by_region(&entries, series.from, series.step))
    }

    /// Summaries of these monitors; those that the team does not have are left out.
    pub async fn summaries(
        &self,
        caller: &Authorized<permission::View>,
        monitors: &[MonitorId],
        beats: u32,
    ) -> Result<Vec<Summary>> {
        let team = self.store().team(caller.team_access());
        let now = self.now();
        let each =
            stream::iter(monitors.to_vec()).map(|monitor| summary(&team, monitor, now, beats));
        let found: Vec<Option<Summary>> = each.buffered(MAX_CONCURRENT).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }
}

async fn summary(
    team: &TeamStore<'_>,
    monitor: MonitorId,
    now: Millis,
    beats: u32,
) -> Result<Option<Summary>> {
    let Some(past) = team.history(monitor).await? else { return Ok(None) };
    let span = HeartbeatRange {
        from: Millis(i64::MIN),
        to: now.after(Duration::from_millis(1)),
        limit: Some(beats),
        before: None,
    };
    let newest = match beats {
        0 => Vec::new(),
        _ => past.newest(&span).await?,
    };
    let spans =
        read_consistently(&past, now, Detail::Means, |reader| Box::pin(day_and_month(reader, now)));
    let (day, month) = spans.await?;
    Ok(Some(Summary { monitor, day, month, beats: newest.into_iter().rev().collect() }))
}

async fn day_and_month(reader: &mut SpanReader<'_>, now: Millis) -> Result<(SpanStats, SpanStats)> {
    let month = tally(reader, start_of(HOUR, now.before(DAY * 30)), now).await?;
    Ok((tally(reader, start_of(HOUR, now.before(DAY)), now).await?, month))
}

async fn standard_stats_of(reader: &mut SpanReader<'_>, now: Millis) -> Result<Vec<Stats>> {
    let mut stats = Vec::with_capacity(STANDARD_SPANS.len());
    // The longest first: its rows include most of the others.
    for (name, days) in STANDARD_SPANS.into_iter().rev() {
        let from = start_of(HOUR, now.before(DAY * days));
        stats.push(Stats { span: Some(name), ..stats_of(reader, from, now).await? });
    }
    stats.reverse();
    Ok(stats)
}

/// What has been attained of an objective until now.
async fn slo_report(reader: &mut SpanReader<'_>, slo: &Slo, now: Millis) -> Result<SloReport> {
    let window = tally(reader, now.before(slo.window()), now).await?;
    let hour = tally(reader, now.before(HOUR), now).await?;
    let six_hours = tally(reader, now.before(6 * HOUR), now).await?;
    Ok(slo.report(&window.millis, &hour.millis, &six_hours.millis))
}

async fn series_of(
    reader: &mut SpanReader<'_>,
    from: Millis,
    to: Millis,
    points: u32,
) -> Result<Series> {
    let source = choose_source(reader, from, to, points);
    let (from, step) = series_step(source.unit(), from, to, points);
    let span_parts = match source {
        Source::Raw => reader.by_heartbeats(step, from, to).await?,
        Source::Hour => reader.by_grain(HOUR, from, to).await?,
        Source::Day => reader.by_grain(DAY, from, to).await?,
    };
    let points =
        stats_per_step(&span_parts.rollups, span_parts.before, (from, span_parts.to), step);
    Ok(Series { from, to, step, source, points, readings: BTreeMap::new() })
}

async fn stats_of(reader: &mut SpanReader<'_>, from: Millis, to: Millis) -> Result<Stats> {
    let span_parts = reader.by_days(from, to).await?;
    let tally = total(&span_parts);
    let outages = reader.past.outage_stats(tally.from, tally.to);
    let phases = reader.phases(&span_parts).await?;
    Ok(Stats { span: None, tally, outages, phases })
}

/// The statistics of a span without the distribution of the phases.
pub(super) async fn tally(
    reader: &mut SpanReader<'_>,
    from: Millis,
    to: Millis,
) -> Result<SpanStats> {
    Ok(total(&reader.by_days(from, to).await?))
}

fn total(span_parts: &SpanParts) -> SpanStats {
    let mut tally =
        SpanStats::new(span_parts.from, span_parts.to.max(span_parts.from), span_parts.before);
    span_parts.rollups.iter().for_each(|rollup| tally.add(rollup));
    tally.finish()
}

/// The data to compute a series of this many points from.
fn choose_source(reader: &SpanReader<'_>, from: Millis, to: Millis, points: u32) -> Source {
    let span = to.since(from);
    let least = span / points.max(1);
    let heartbeats = span.as_secs() / u64::from(reader.past.interval().max(1));
    let few = heartbeats <= MAX_HEARTBEATS;
    match () {
        () if least < HOUR && few && reader.extent().has_heartbeats(from) => Source::Raw,
        () if least < DAY && reader.extent().has_hours(from) => Source::Hour,
        () => Source::Day,
    }
}
