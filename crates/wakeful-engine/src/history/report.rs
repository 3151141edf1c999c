//! The report on all monitors, or on those with one tag, for a month or any days.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use std::ops::Range;
use wakeful_core::access::permission;
use wakeful_core::history::period::Period;
use wakeful_core::history::rollup::Detail;
use wakeful_core::history::stats::{OutageStats, SpanStats};
use wakeful_core::history::{HistoryStatus, PerStatus};
use wakeful_core::monitors::Monitor;
use wakeful_core::named_enum;
use wakeful_core::time::Millis;
use wakeful_store::TeamStore;

use super::spans::read_consistently;
use super::stats::{MAX_CONCURRENT, tally};
use crate::caller::Authorized;
use crate::{Engine, MonitorQuery, Result};

#[derive(Clone, Debug)]
pub struct Report {
    pub period: Period,
    /// The name of the team.
    pub team: String,
    pub tag: Option<String>,
    /// The end of the period, or now if it is not over.
    pub to: Millis,
    pub lines: Vec<ReportLine>,
}

named_enum! {
    /// The order of a report.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReportOrder {
        Name = "name",
        /// The lowest uptime first; monitors without data last.
        Uptime = "uptime",
    }
}

#[derive(Clone, Debug)]
pub struct ReportLine {
    pub monitor: Monitor,
    pub tally: SpanStats,
    pub outages: OutageStats,
}

impl Report {
    /// All monitors together, by duration, in milliseconds.
    pub fn millis(&self) -> PerStatus {
        let mut total = PerStatus::default();
        for line in &self.lines {
            for status in HistoryStatus::ALL {
                total[status] += line.tally.millis[status];
            }
        }
        total
    }

    pub fn outages(&self) -> u64 {
        self.lines.iter().map(|line| line.outages.count).sum()
    }
}

impl Engine {
    /// The statistics of a period. Monitors that were created after it are left out.
    pub async fn report(
        &self,
        caller: &Authorized<permission::View>,
        period: Period,
        tag: Option<String>,
        order: ReportOrder,
    ) -> Result<Report> {
        let _turn = self.bulk_turn(caller).await?;
        let now = self.now();
        let to = period.to.min(now).max(period.from);
        let filter = MonitorQuery { tag: tag.clone(), ..MonitorQuery::default() };
        let team = self.store().team(caller.team_access());
        let monitors = team.monitors(&filter).await?;
        let monitors = monitors.into_iter().filter(|(stored, _)| !stored.unreadable);
        let monitors = monitors.map(|(stored, _)| stored.monitor);
        let monitors = monitors.filter(|monitor| monitor.created < period.to);
        let each = stream::iter(monitors).map(|monitor| line(&team, monitor, period.from..to, now));
        let lines: Vec<Option<ReportLine>> = each.buffered(MAX_CONCURRENT).try_collect().await?;
        let mut lines: Vec<ReportLine> = lines.into_iter().flatten().collect();
        sort(&mut lines, order);
        Ok(Report { period, team: team.display_name().await?, tag, to, lines })
    }
}

fn sort(lines: &mut [ReportLine], order: ReportOrder) {
    lines.sort_by_cached_key(|line| line.monitor.name.as_str().to_lowercase());
    if order == ReportOrder::Uptime {
        let uptime = |line: &ReportLine| line.tally.millis.uptime().unwrap_or(f64::INFINITY);
        lines.sort_by(|one, other| uptime(one).total_cmp(&uptime(other)));
    }
}

async fn line(
    team: &TeamStore<'_>,
    monitor: Monitor,
    span: Range<Millis>,
    now: Millis,
) -> Result<Option<ReportLine>> {
    // The monitor may have been deleted meanwhile.
    let Some(past) = team.history(monitor.id).await? else { return Ok(None) };
    let tally = read_consistently(&past, now, Detail::Means, |reader| {
        Box::pin(tally(reader, span.start, span.end))
    });
    let tally = tally.await?;
    let outages = past.outage_stats(tally.from, tally.to);
    Ok(Some(ReportLine { monitor, tally, outages }))
}
