//! The statistics of monitors as they are returned. Load times are in milliseconds,
//! uptimes in percent. Uptimes are rounded down, so that 100 means never down.

use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::history::by_region::RegionSeries;
use wakeful_core::history::readings::ReadingStats;
use wakeful_core::history::rollup::{Distribution, LoadTimes};
use wakeful_core::history::{Entry, HistoryStatus, PerStatus, stats::SpanStats};
use wakeful_core::id::MonitorId;
use wakeful_core::slo::SloReport;
use wakeful_core::time::Millis;
use wakeful_engine::{MonitorStats, Series, Stats, Summary};

use super::enums::{
    HeartbeatHealth, HeartbeatStanding, HeartbeatStatus, SeriesSource, StatsPeriod,
};
use super::monitors::response::millis;

#[derive(Serialize, ToSchema)]
#[schema(as = Stats)]
pub(crate) struct StatsBody {
    success: bool,
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    spans: Vec<SpanBody>,
    /// What has been attained of the objective; absent if the monitor has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    slo: Option<SloReportBody>,
}

/// The objective of a monitor, for its days until now. What is unknown, not confirmed, or during
/// maintenance spends no budget.
#[derive(Serialize, ToSchema)]
#[schema(as = SloReport)]
struct SloReportBody {
    /// In percent; null without data.
    attained: Option<f64>,
    /// How long the monitor may be down within these days.
    budget_seconds: f64,
    spent_seconds: f64,
    /// Negative if more was spent.
    left_seconds: f64,
    /// How many times faster than allowed the budget was spent in the last hour, and in the last
    /// six hours; null without data.
    burn_1h: Option<f64>,
    burn_6h: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = StatsSpan)]
struct SpanBody {
    /// Null for a requested range.
    #[schema(value_type = Option<StatsPeriod>)]
    span: Option<&'static str>,
    /// The start of the period that the statistics cover. The standard periods start at a
    /// full hour; others do too where single heartbeats are no longer stored.
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    #[schema(value_type = String, format = DateTime)]
    to: Millis,
    /// Time-based: the up time as a share of up and down time, in percent; null without data.
    uptime: Option<f64>,
    /// Based on the number of heartbeats, in percent.
    uptime_checks: Option<f64>,
    /// The uptime without the time that was degraded, in percent.
    healthy: Option<f64>,
    /// Only with `apdex` or a limit for slow checks: from 0 to 1, where 1 is best.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    apdex: Option<f64>,
    checks: ChecksBody,
    seconds: SecondsBody,
    /// Outages that overlap the period.
    outages: u64,
    /// Seconds of the longest outage within the period.
    longest_outage: Option<u64>,
    /// Seconds; covers the outages that ended within the period.
    mean_time_to_recover: Option<u64>,
    load_time: Option<LoadTimeBody>,
    phases: PhaseTimesBody,
}

/// The number of heartbeats by status. Pending ones failed but did not lead to an outage.
#[derive(Serialize, ToSchema)]
#[schema(as = Checks)]
struct ChecksBody {
    /// Including degraded ones.
    up: u64,
    degraded: u64,
    down: u64,
    pending: u64,
    unknown: u64,
    maintenance: u64,
}

/// The number of seconds with each status.
#[derive(Serialize, ToSchema)]
#[schema(as = Seconds)]
struct SecondsBody {
    /// Including degraded time.
    up: u64,
    degraded: u64,
    down: u64,
    pending: u64,
    unknown: u64,
    maintenance: u64,
    /// Seconds without data.
    no_data: u64,
}

/// Load times of successful checks, in milliseconds; percentiles are accurate to within
/// one percent.
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

/// The time of each phase; null for phases that were never reached.
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
    pub(crate) fn of(monitorid: MonitorId, stats: &MonitorStats) -> Self {
        let MonitorStats { spans, apdex, slo } = stats;
        Self {
            success: true,
            monitorid,
            spans: spans.iter().map(|one| SpanBody::of(one, *apdex)).collect(),
            slo: slo.as_ref().map(SloReportBody::of),
        }
    }
}

impl SloReportBody {
    fn of(report: &SloReport) -> Self {
        let rounded = |number: f64| (number * 1e3).round() / 1e3;
        Self {
            attained: report.attained.map(floored),
            budget_seconds: rounded(report.budget),
            spent_seconds: rounded(report.spent),
            left_seconds: rounded(report.left),
            burn_1h: report.burn_hour.map(rounded),
            burn_6h: report.burn_six_hours.map(rounded),
        }
    }
}

impl SpanBody {
    fn of(stats: &Stats, apdex: Option<Duration>) -> Self {
        let Stats { span, tally, outages, phases } = stats;
        Self {
            span: *span,
            from: tally.from,
            to: tally.to,
            uptime: uptime(&tally.millis),
            uptime_checks: uptime(&tally.checks),
            healthy: tally.millis.healthy().map(floored),
            apdex: apdex
                .and_then(|limit| tally.apdex(limit))
                .map(|apdex| (apdex * 1e4).round() / 1e4),
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
    fn of(checks: &PerStatus) -> Self {
        Self {
            up: checks.up(),
            degraded: checks[HistoryStatus::Degraded],
            down: checks[HistoryStatus::Down],
            pending: checks[HistoryStatus::Pending],
            unknown: checks[HistoryStatus::Unknown],
            maintenance: checks[HistoryStatus::Maintenance],
        }
    }
}

impl SecondsBody {
    fn of(tally: &SpanStats) -> Self {
        let of = |standing| seconds(tally.millis[standing]);
        Self {
            up: seconds(tally.millis.up()),
            degraded: of(HistoryStatus::Degraded),
            down: of(HistoryStatus::Down),
            pending: of(HistoryStatus::Pending),
            unknown: of(HistoryStatus::Unknown),
            maintenance: of(HistoryStatus::Maintenance),
            no_data: seconds(tally.no_data()),
        }
    }
}

impl LoadTimeBody {
    fn of(times: &LoadTimes) -> Option<Self> {
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
    fn of([resolve, connect, tls, first_byte, transfer]: &[Distribution; 5]) -> Self {
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
    fn of(spread: &Distribution) -> Option<Self> {
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
    #[schema(value_type = SeriesSource)]
    source: &'static str,
    /// Steps without a heartbeat are omitted.
    points: Vec<PointBody>,
    /// Only with `by=region`: the results of each region. Empty if the monitor was checked
    /// from one region only, and if the source is hour or day, which have no such data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    regions: Option<Vec<RegionLineBody>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RegionSeries)]
struct RegionLineBody {
    region: String,
    /// Steps in which the region did not check are omitted.
    points: Vec<RegionPointBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RegionPoint)]
struct RegionPointBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    up: u64,
    down: u64,
    /// The number of times that the region could not check.
    unknown: u64,
    /// Load time of successful checks, in milliseconds.
    p50: Option<f64>,
    max: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Point)]
struct PointBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// Including degraded ones.
    up: u64,
    degraded: u64,
    down: u64,
    pending: u64,
    unknown: u64,
    /// Checks during maintenance, which do not count.
    maintenance: u64,
    uptime: Option<f64>,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    phases: PhaseMeansBody,
    /// The up to two numbers that the checks have measured; absent without any, and where single
    /// heartbeats are no longer stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Option<ReadingBody>>>, nullable = false)]
    reading: Option<[Option<ReadingBody>; 2]>,
}

/// A number that checks have measured.
#[derive(Serialize, ToSchema)]
#[schema(as = Reading)]
struct ReadingBody {
    mean: f64,
    min: f64,
    max: f64,
}

impl ReadingBody {
    fn of(stats: &ReadingStats) -> Self {
        let ReadingStats { mean, min, max } = *stats;
        Self { mean: (mean * 1e3).round() / 1e3, min, max }
    }
}

/// The mean time of each phase; null for phases that were never reached.
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
        regions: Option<Vec<RegionSeries>>,
    ) -> Self {
        Self {
            success: true,
            monitorid,
            from: series.from,
            to: series.to,
            step: series.step.as_secs(),
            source: series.source.as_str(),
            points: series
                .points
                .iter()
                .map(|tally| PointBody::of(tally, series.readings.get(&tally.from)))
                .collect(),
            regions: regions.map(|lines| lines.iter().map(RegionLineBody::of).collect()),
        }
    }
}

impl RegionLineBody {
    fn of(line: &RegionSeries) -> Self {
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
    fn of(tally: &SpanStats, readings: Option<&[Option<ReadingStats>; 2]>) -> Self {
        let (checks, times) = (&tally.checks, &tally.times);
        let timed = |value: u64| (times.load.count > 0).then(|| in_millis(value as f64));
        let percentile = |share| times.percentile(share).map(in_millis);
        let [resolve, connect, tls, first_byte, transfer] =
            times.phases.each_ref().map(|spread| spread.mean().map(in_millis));
        Self {
            at: tally.from,
            up: checks.up(),
            degraded: checks[HistoryStatus::Degraded],
            down: checks[HistoryStatus::Down],
            pending: checks[HistoryStatus::Pending],
            unknown: checks[HistoryStatus::Unknown],
            maintenance: checks[HistoryStatus::Maintenance],
            uptime: uptime(&tally.millis),
            mean: times.load.mean().map(in_millis),
            min: timed(times.shortest),
            max: timed(times.longest),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
            phases: PhaseMeansBody { resolve, connect, tls, first_byte, transfer },
            reading: readings
                .map(|both| both.each_ref().map(|one| one.as_ref().map(ReadingBody::of))),
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
    /// The median of the last 24 hours, in milliseconds.
    load_time: Option<f64>,
    /// Newest last.
    beats: Vec<BeatBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Beat)]
struct BeatBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    #[schema(value_type = HeartbeatStatus)]
    status: &'static str,
    /// The status, or degraded.
    #[schema(value_type = HeartbeatHealth)]
    health: &'static str,
    /// What it counts as.
    #[schema(value_type = HeartbeatStanding)]
    standing: &'static str,
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
    fn of(entry: &Entry) -> Self {
        let heartbeat = &entry.heartbeat;
        Self {
            at: heartbeat.at,
            status: heartbeat.status.plain().as_str(),
            health: heartbeat.status.as_str(),
            standing: entry.standing.plain().as_str(),
            load_time: heartbeat.load_time.map(millis),
            message: heartbeat.message.clone(),
        }
    }
}

/// In percent, with at most four decimals, rounded down.
pub(crate) fn uptime(shares: &PerStatus) -> Option<f64> {
    shares.uptime().map(floored)
}

/// With at most four decimals, rounded down.
fn floored(percent: f64) -> f64 {
    (percent * 1e4).floor() / 1e4
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
        let mut shares = PerStatus::default();
        assert_eq!(uptime(&shares), None);
        shares[HistoryStatus::Up] = 31_536_000_000;
        assert_eq!(uptime(&shares), Some(100.0));
        shares[HistoryStatus::Down] = 1;
        assert_eq!(uptime(&shares), Some(99.9999));
    }
}
