//! A month of all monitors, or of those with one tag.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use wakeful_core::history::month::Month;
use wakeful_core::history::rollup::Depth;
use wakeful_core::history::tally::{Outages, Tally};
use wakeful_core::history::{Shares, Standing};
use wakeful_core::monitor::Monitor;
use wakeful_core::time::Millis;
use wakeful_store::TeamStore;

use super::figures::{AT_ONCE, tally};
use super::pieces::figures_of;
use crate::caller::Caller;
use crate::{Engine, MonitorFilter, Result};

#[derive(Clone, Debug)]
pub struct Report {
    pub month: Month,
    pub tag: Option<String>,
    /// The end of the month, or now while it lasts.
    pub to: Millis,
    pub lines: Vec<ReportLine>,
}

#[derive(Clone, Debug)]
pub struct ReportLine {
    pub monitor: Monitor,
    pub tally: Tally,
    pub outages: Outages,
}

impl Report {
    /// All monitors together, by duration, in milliseconds.
    pub fn millis(&self) -> Shares {
        let mut total = Shares::default();
        for line in &self.lines {
            for standing in Standing::ALL {
                total[standing] += line.tally.millis[standing];
            }
        }
        total
    }

    pub fn outages(&self) -> u64 {
        self.lines.iter().map(|line| line.outages.count).sum()
    }
}

impl Engine {
    /// The figures of a month. Monitors that were made after it are left out.
    pub async fn report(
        &self,
        caller: &Caller,
        month: Month,
        tag: Option<String>,
    ) -> Result<Report> {
        let now = self.now();
        let to = month.to.min(now).max(month.from);
        let filter = MonitorFilter { tag: tag.clone(), ..MonitorFilter::default() };
        let team = self.store().team(caller.team);
        let monitors = team.monitors(&filter).await?;
        let monitors = monitors.into_iter().map(|(stored, _)| stored.monitor);
        let monitors = monitors.filter(|monitor| monitor.created < month.to);
        let each =
            stream::iter(monitors).map(|monitor| line(&team, monitor, (month.from, to), now));
        let lines: Vec<Option<ReportLine>> = each.buffered(AT_ONCE).try_collect().await?;
        let lines = lines.into_iter().flatten().collect();
        Ok(Report { month, tag, to, lines })
    }
}

async fn line(
    team: &TeamStore<'_>,
    monitor: Monitor,
    (from, to): (Millis, Millis),
    now: Millis,
) -> Result<Option<ReportLine>> {
    // Nothing: it was deleted meanwhile.
    let Some(past) = team.past(monitor.id).await? else { return Ok(None) };
    let made = figures_of(&past, now, Depth::Means, |reader| Box::pin(tally(reader, from, to)));
    let tally = made.await?;
    let outages = Outages::within(past.outages(), tally.from, tally.to);
    Ok(Some(ReportLine { monitor, tally, outages }))
}
