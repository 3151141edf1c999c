//! The figures of monitors: of the usual spans, of any span, as a series for a
//! chart, and in short for many monitors at once.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use std::time::Duration;
use wakeful_core::history::places::{RegionLine, by_region};
use wakeful_core::history::rollup::{Depth, Spread};
use wakeful_core::history::tally::{Outages, Tally, steps};
use wakeful_core::history::{DAY, HOUR, start_of, stride};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Heartbeat;
use wakeful_store::{Span, TeamStore};

use super::pieces::{Pieces, Reader, figures_of};
use crate::caller::Caller;
use crate::{Engine, Error, Result};

/// The spans that everybody asks for, and their names.
const USUAL: [(&str, u32); 5] = [("24h", 1), ("7d", 7), ("30d", 30), ("90d", 90), ("365d", 365)];
/// How many monitors are read side by side.
pub(super) const AT_ONCE: usize = 8;
/// More single heartbeats than this are not read for one chart.
const MOST_HEARTBEATS: u64 = 20_000;

/// The figures of one span.
#[derive(Clone, Debug)]
pub struct Stats {
    /// The name of a usual span.
    pub span: Option<&'static str>,
    pub tally: Tally,
    pub outages: Outages,
    /// As they are known for the whole days of the span.
    pub phases: [Spread; 5],
}

#[derive(Clone, Debug)]
pub struct Series {
    pub from: Millis,
    pub to: Millis,
    pub step: Duration,
    pub source: Source,
    pub points: Vec<Tally>,
}

/// What the points of a series are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Raw,
    Hour,
    Day,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    fn unit(self) -> Duration {
        match self {
            Self::Raw => Duration::from_secs(1),
            Self::Hour => HOUR,
            Self::Day => DAY,
        }
    }
}

/// A monitor in short.
#[derive(Clone, Debug)]
pub struct Summary {
    pub monitor: MonitorId,
    pub day: Tally,
    pub month: Tally,
    /// The newest heartbeats, newest last.
    pub beats: Vec<Heartbeat>,
}

impl Engine {
    /// The usual spans until now. They begin with a full hour.
    pub async fn usual_stats(&self, caller: &Caller, monitor: MonitorId) -> Result<Vec<Stats>> {
        let team = self.store().team(caller.team);
        let past = team.past(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let now = self.now();
        figures_of(&past, now, Depth::Whole, |reader| Box::pin(usual(reader, now))).await
    }

    /// One span, as exact as the past is kept.
    pub async fn stats(
        &self,
        caller: &Caller,
        monitor: MonitorId,
        from: Millis,
        to: Millis,
    ) -> Result<Stats> {
        let team = self.store().team(caller.team);
        let past = team.past(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        figures_of(&past, self.now(), Depth::Whole, |reader| Box::pin(figures(reader, from, to)))
            .await
    }

    /// At most `points` equal steps of a span.
    pub async fn series(
        &self,
        caller: &Caller,
        monitor: MonitorId,
        (from, to): (Millis, Millis),
        points: u32,
    ) -> Result<Series> {
        let team = self.store().team(caller.team);
        let past = team.past(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let depth = Depth::Means;
        figures_of(&past, self.now(), depth, |reader| Box::pin(points_of(reader, from, to, points)))
            .await
    }

    /// What each region saw in the steps of a series. Hours and days do not hold
    /// it: a series that is made of these has no lines.
    pub async fn region_lines(
        &self,
        caller: &Caller,
        monitor: MonitorId,
        series: &Series,
    ) -> Result<Vec<RegionLine>> {
        if series.source != Source::Raw {
            return Ok(Vec::new());
        }
        let team = self.store().team(caller.team);
        let past = team.past(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let until = series.to.min(Millis(self.now().0 + 1));
        let entries = past.heartbeats(series.from, until).await?;
        Ok(by_region(&entries, series.from, series.step))
    }

    /// These monitors in short; those that the team does not have are left out.
    pub async fn summaries(
        &self,
        caller: &Caller,
        monitors: &[MonitorId],
        beats: u32,
    ) -> Result<Vec<Summary>> {
        let team = self.store().team(caller.team);
        let now = self.now();
        let each =
            stream::iter(monitors.to_vec()).map(|monitor| summary(&team, monitor, now, beats));
        let found: Vec<Option<Summary>> = each.buffered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }
}

async fn summary(
    team: &TeamStore<'_>,
    monitor: MonitorId,
    now: Millis,
    beats: u32,
) -> Result<Option<Summary>> {
    let Some(past) = team.past(monitor).await? else { return Ok(None) };
    let span = Span {
        from: Millis(i64::MIN),
        to: now.after(Duration::from_millis(1)),
        limit: Some(beats),
        before: None,
    };
    let newest = match beats {
        0 => Vec::new(),
        _ => team.heartbeats(monitor, &span).await?.unwrap_or_default(),
    };
    let made = figures_of(&past, now, Depth::Means, |reader| Box::pin(day_and_month(reader, now)));
    let (day, month) = made.await?;
    Ok(Some(Summary {
        monitor,
        day,
        month,
        beats: newest.into_iter().rev().map(|(_, heartbeat)| heartbeat).collect(),
    }))
}

async fn day_and_month(reader: &mut Reader<'_>, now: Millis) -> Result<(Tally, Tally)> {
    let month = tally(reader, start_of(HOUR, now.before(DAY * 30)), now).await?;
    Ok((tally(reader, start_of(HOUR, now.before(DAY)), now).await?, month))
}

async fn usual(reader: &mut Reader<'_>, now: Millis) -> Result<Vec<Stats>> {
    let mut stats = Vec::with_capacity(USUAL.len());
    // The longest first: what is read for it holds most of the others.
    for (name, days) in USUAL.into_iter().rev() {
        let from = start_of(HOUR, now.before(DAY * days));
        stats.push(Stats { span: Some(name), ..figures(reader, from, now).await? });
    }
    stats.reverse();
    Ok(stats)
}

async fn points_of(
    reader: &mut Reader<'_>,
    from: Millis,
    to: Millis,
    points: u32,
) -> Result<Series> {
    let source = source(reader, from, to, points);
    let (from, step) = stride(source.unit(), from, to, points);
    let pieces = match source {
        Source::Raw => reader.by_heartbeats(step, from, to).await?,
        Source::Hour => reader.by_grain(HOUR, from, to).await?,
        Source::Day => reader.by_grain(DAY, from, to).await?,
    };
    let points = steps(&pieces.rollups, pieces.before, (from, pieces.to), step);
    Ok(Series { from, to, step, source, points })
}

async fn figures(reader: &mut Reader<'_>, from: Millis, to: Millis) -> Result<Stats> {
    let pieces = reader.by_days(from, to).await?;
    let tally = whole(&pieces);
    let outages = Outages::within(reader.past.outages(), tally.from, tally.to);
    let phases = reader.phases(&pieces).await?;
    Ok(Stats { span: None, tally, outages, phases })
}

/// The figures of a span but for how phases were spread.
pub(super) async fn tally(reader: &mut Reader<'_>, from: Millis, to: Millis) -> Result<Tally> {
    Ok(whole(&reader.by_days(from, to).await?))
}

fn whole(pieces: &Pieces) -> Tally {
    let mut tally = Tally::new(pieces.from, pieces.to.max(pieces.from), pieces.before);
    pieces.rollups.iter().for_each(|rollup| tally.add(rollup));
    tally.finish()
}

/// What a series of so many points is made of.
fn source(reader: &Reader<'_>, from: Millis, to: Millis, points: u32) -> Source {
    let span = to.since(from);
    let least = span / points.max(1);
    let heartbeats = span.as_secs() / u64::from(reader.past.interval().max(1));
    let few = heartbeats <= MOST_HEARTBEATS;
    match () {
        () if least < HOUR && few && reader.extent().has_heartbeats(from) => Source::Raw,
        () if least < DAY && reader.extent().has_hours(from) => Source::Hour,
        () => Source::Day,
    }
}
