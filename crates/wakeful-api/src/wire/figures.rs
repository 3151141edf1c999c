//! The figures of monitors as they are returned. Load times are milliseconds,
//! uptimes percent; an uptime is rounded down, so that 100 means never down.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::history::places::RegionLine;
use wakeful_core::history::rollup::{Spread, Times};
use wakeful_core::history::{Shares, Standing, tally::Tally};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Heartbeat;
use wakeful_engine::{Series, Stats, Summary};

use super::monitors::millis;

#[derive(Serialize, ToSchema)]
#[schema(as = Stats)]
pub(crate) struct StatsBody {
    success: bool,
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    spans: Vec<SpanBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = StatsSpan)]
struct SpanBody {
    /// 24h, 7d, 30d, 90d or 365d; null for a span that was asked for.
    #[schema(value_type = Option<String>)]
    span: Option<&'static str>,
    /// What the figures cover: the usual spans begin with a full hour, and where
    /// single heartbeats are no longer kept, others do too.
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    #[schema(value_type = String, format = DateTime)]
    to: Millis,
    /// By duration: up seconds among up and down seconds, in percent; null without data.
    uptime: Option<f64>,
    /// By heartbeats.
    uptime_checks: Option<f64>,
    checks: ChecksBody,
    seconds: SecondsBody,
    /// Outages that touch the span.
    outages: u64,
    /// Seconds of the longest one within the span.
    longest_outage: Option<u64>,
    /// Seconds, of those that ended within the span.
    mean_time_to_recover: Option<u64>,
    load_time: Option<LoadTimeBody>,
    phases: PhaseTimesBody,
}

/// How many heartbeats of each kind; pending ones failed and no outage came of it.
#[derive(Serialize, ToSchema)]
#[schema(as = Checks)]
struct ChecksBody {
    up: u64,
    down: u64,
    pending: u64,
    unknown: u64,
    maintenance: u64,
}

/// For how many seconds heartbeats of each kind spoke.
#[derive(Serialize, ToSchema)]
#[schema(as = Seconds)]
struct SecondsBody {
    up: u64,
    down: u64,
    pending: u64,
    unknown: u64,
    maintenance: u64,
    /// Nothing was heard.
    no_data: u64,
}

/// Of checks that were up, in milliseconds; percentiles to within one percent.
#[derive(Serialize, ToSchema)]
#[schema(as = LoadTime)]
struct LoadTimeBody {
    mean: f64,
    min: f64,
    max: f64,
    p50: f64,
    p90: f64,
    p95: f64,
    p99: f64,
}

/// Where the time went; null for what was never reached.
#[derive(Serialize, ToSchema)]
#[schema(as = PhaseTimes)]
struct PhaseTimesBody {
    resolve: Option<PhaseBody>,
    connect: Option<PhaseBody>,
    tls: Option<PhaseBody>,
    first_byte: Option<PhaseBody>,
    transfer: Option<PhaseBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PhaseTime)]
struct PhaseBody {
    mean: f64,
    p50: f64,
    p95: f64,
    p99: f64,
}

impl StatsBody {
    pub(crate) fn of(monitorid: MonitorId, stats: &[Stats]) -> Self {
        Self { success: true, monitorid, spans: stats.iter().map(SpanBody::of).collect() }
    }
}

impl SpanBody {
    fn of(stats: &Stats) -> Self {
        let Stats { span, tally, outages, phases } = stats;
        Self {
            span: *span,
            from: tally.from,
            to: tally.to,
            uptime: uptime(&tally.millis),
            uptime_checks: uptime(&tally.checks),
            checks: ChecksBody::of(&tally.checks),
            seconds: SecondsBody::of(tally),
            outages: outages.count,
            longest_outage: outages.longest.map(seconds),
            mean_time_to_recover: outages.mean_time_to_recover.map(seconds),
            load_time: LoadTimeBody::of(&tally.times),
            phases: PhaseTimesBody::of(phases),
        }
    }
}

impl ChecksBody {
    fn of(checks: &Shares) -> Self {
        Self {
            up: checks[Standing::Up],
            down: checks[Standing::Down],
            pending: checks[Standing::Pending],
            unknown: checks[Standing::Unknown],
            maintenance: checks[Standing::Maintenance],
        }
    }
}

impl SecondsBody {
    fn of(tally: &Tally) -> Self {
        let of = |standing| seconds(tally.millis[standing]);
        Self {
            up: of(Standing::Up),
            down: of(Standing::Down),
            pending: of(Standing::Pending),
            unknown: of(Standing::Unknown),
            maintenance: of(Standing::Maintenance),
            no_data: seconds(tally.no_data()),
        }
    }
}

impl LoadTimeBody {
    fn of(times: &Times) -> Option<Self> {
        let percentile = |share| times.percentile(share).map(in_millis);
        Some(Self {
            mean: times.load.mean().map(in_millis)?,
            min: in_millis(times.shortest as f64),
            max: in_millis(times.longest as f64),
            p50: percentile(0.5)?,
            p90: percentile(0.9)?,
            p95: percentile(0.95)?,
            p99: percentile(0.99)?,
        })
    }
}

impl PhaseTimesBody {
    fn of([resolve, connect, tls, first_byte, transfer]: &[Spread; 5]) -> Self {
        Self {
            resolve: PhaseBody::of(resolve),
            connect: PhaseBody::of(connect),
            tls: PhaseBody::of(tls),
            first_byte: PhaseBody::of(first_byte),
            transfer: PhaseBody::of(transfer),
        }
    }
}

impl PhaseBody {
    fn of(spread: &Spread) -> Option<Self> {
        let percentile = |share| spread.sketch.quantile(share).map(in_millis);
        Some(Self {
            mean: spread.mean().map(in_millis)?,
            p50: percentile(0.5)?,
            p95: percentile(0.95)?,
            p99: percentile(0.99)?,
        })
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = Series)]
pub(crate) struct SeriesBody {
    success: bool,
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    #[schema(value_type = String, format = DateTime)]
    to: Millis,
    /// Seconds from one point to the next.
    step: u64,
    /// raw, hour or day: what the points are made of.
    #[schema(value_type = String)]
    source: &'static str,
    /// Steps without a heartbeat are left out.
    points: Vec<PointBody>,
    /// Only with `by=region`: what each region saw. Empty when it was checked from
    /// one place only, and when the source is hour or day, which do not hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    regions: Option<Vec<RegionLineBody>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RegionLine)]
struct RegionLineBody {
    region: String,
    /// Steps in which it was not asked are left out.
    points: Vec<RegionPointBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RegionPoint)]
struct RegionPointBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    up: u64,
    down: u64,
    /// How often it could not look.
    unknown: u64,
    /// Of looks that were up, in milliseconds.
    p50: Option<f64>,
    max: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Point)]
struct PointBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    up: u64,
    down: u64,
    pending: u64,
    unknown: u64,
    uptime: Option<f64>,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    phases: PhaseMeansBody,
}

/// Where the time went in the mean; null for what was never reached.
#[derive(Serialize, ToSchema)]
#[schema(as = PhaseMeans)]
struct PhaseMeansBody {
    resolve: Option<f64>,
    connect: Option<f64>,
    tls: Option<f64>,
    first_byte: Option<f64>,
    transfer: Option<f64>,
}

impl SeriesBody {
    pub(crate) fn of(
        monitorid: MonitorId,
        series: &Series,
        regions: Option<Vec<RegionLine>>,
    ) -> Self {
        Self {
            success: true,
            monitorid,
            from: series.from,
            to: series.to,
            step: series.step.as_secs(),
            source: series.source.as_str(),
            points: series.points.iter().map(PointBody::of).collect(),
            regions: regions.map(|lines| lines.iter().map(RegionLineBody::of).collect()),
        }
    }
}

impl RegionLineBody {
    fn of(line: &RegionLine) -> Self {
        let points = line.points.iter().map(|point| RegionPointBody {
            at: point.at,
            up: point.up,
            down: point.down,
            unknown: point.unknown,
            p50: point.median.map(millis),
            max: point.longest.map(millis),
        });
        Self { region: line.region.to_string(), points: points.collect() }
    }
}

impl PointBody {
    fn of(tally: &Tally) -> Self {
        let (checks, times) = (&tally.checks, &tally.times);
        let timed = |value: u64| (times.load.count > 0).then(|| in_millis(value as f64));
        let percentile = |share| times.percentile(share).map(in_millis);
        let [resolve, connect, tls, first_byte, transfer] =
            times.phases.each_ref().map(|spread| spread.mean().map(in_millis));
        Self {
            at: tally.from,
            up: checks[Standing::Up],
            down: checks[Standing::Down],
            pending: checks[Standing::Pending],
            unknown: checks[Standing::Unknown],
            uptime: uptime(&tally.millis),
            mean: times.load.mean().map(in_millis),
            min: timed(times.shortest),
            max: timed(times.longest),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
            phases: PhaseMeansBody { resolve, connect, tls, first_byte, transfer },
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = Summaries)]
pub(crate) struct SummaryList {
    success: bool,
    summaries: Vec<SummaryBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Summary)]
struct SummaryBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    uptime_24h: Option<f64>,
    uptime_30d: Option<f64>,
    /// The median of 24 hours, in milliseconds.
    load_time: Option<f64>,
    /// Newest last.
    beats: Vec<BeatBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Beat)]
struct BeatBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// up, down or unknown.
    #[schema(value_type = String)]
    status: &'static str,
    load_time: Option<f64>,
    message: String,
}

impl SummaryList {
    pub(crate) fn of(summaries: &[Summary]) -> Self {
        Self { success: true, summaries: summaries.iter().map(SummaryBody::of).collect() }
    }
}

impl SummaryBody {
    fn of(summary: &Summary) -> Self {
        Self {
            monitorid: summary.monitor,
            uptime_24h: uptime(&summary.day.millis),
            uptime_30d: uptime(&summary.month.millis),
            load_time: summary.day.times.percentile(0.5).map(in_millis),
            beats: summary.beats.iter().map(BeatBody::of).collect(),
        }
    }
}

impl BeatBody {
    fn of(heartbeat: &Heartbeat) -> Self {
        Self {
            at: heartbeat.at,
            status: heartbeat.status.as_str(),
            load_time: heartbeat.load_time.map(millis),
            message: heartbeat.message.clone(),
        }
    }
}

/// In percent with at most four decimals, never rounded up.
pub(crate) fn uptime(shares: &Shares) -> Option<f64> {
    shares.uptime().map(|percent| (percent * 1e4).floor() / 1e4)
}

pub(super) fn in_millis(micros: f64) -> f64 {
    micros.round() / 1e3
}

pub(super) fn seconds(millis: u64) -> u64 {
    (millis + 500) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uptime_of_a_hundred_means_never_down() {
        let mut shares = Shares::default();
        assert_eq!(uptime(&shares), None);
        shares[Standing::Up] = 31_536_000_000;
        assert_eq!(uptime(&shares), Some(100.0));
        shares[Standing::Down] = 1;
        assert_eq!(uptime(&shares), Some(99.9999));
    }
}
