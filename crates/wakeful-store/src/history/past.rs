//! One monitor's past as a team reads it.

use wakeful_core::history::rollup::{Depth, Last, Rollup, unpack};
use wakeful_core::history::{DAY, Entry, Outage, in_order, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Heartbeat;

use super::{Grain, aside};
use crate::dialect::read;
use crate::heartbeats::{Place, Span};
use crate::{Result, Store, TeamStore};

/// So many roll-ups are understood where they are read; more of
/// them take milliseconds.
const FEW: usize = 31;

pub struct Past<'a> {
    store: &'a Store,
    monitor: MonitorId,
    interval: u32,
    outages: Vec<Outage>,
}

/// How far a past reaches: the first days of which something is folded, by
/// kind, and the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The last folded heartbeat: later ones are all fresh.
    pub folded: Option<Millis>,
    /// How many times something was folded.
    pub folds: i64,
    heartbeats: Option<Millis>,
    hours: Option<Millis>,
    days: Option<Millis>,
}

impl Extent {
    /// Whether the single heartbeats from a time on are all kept.
    pub fn has_heartbeats(&self, from: Millis) -> bool {
        self.reaches(self.heartbeats, from)
    }

    /// Whether the hours from a time on are all kept.
    pub fn has_hours(&self, from: Millis) -> bool {
        self.reaches(self.hours, from)
    }

    /// The day that a time lies in, or the first one that is known; nothing
    /// when none is.
    pub fn first_day(&self, from: Millis) -> Option<Millis> {
        self.days.map(|days| days.max(start_of(DAY, from)))
    }

    /// What is older than the oldest day never was.
    fn reaches(&self, kind: Option<Millis>, from: Millis) -> bool {
        self.first_day(from).is_none_or(|needed| kind.is_some_and(|kind| kind <= needed))
    }
}

impl TeamStore<'_> {
    /// The past of a monitor; nothing when the team has no such monitor.
    pub async fn past(&self, monitor: MonitorId) -> Result<Option<Past<'_>>> {
        let interval: Option<i64> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select heartbeat_interval from monitors where id = $1 and team_id = $2",
            )
            .bind(monitor.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(interval) = interval else { return Ok(None) };
        let interval = u32::try_from(interval).unwrap_or(u32::MAX);
        let outages = self.store.outages(monitor).await?;
        Ok(Some(Past { store: self.store, monitor, interval, outages }))
    }
}

impl Past<'_> {
    /// The outages of the monitor in their order.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }

    pub fn interval(&self) -> u32 {
        self.interval
    }

    fn entry(&self, place: Place, heartbeat: Heartbeat) -> Entry {
        Entry::of(place.seq, heartbeat, self.interval, &self.outages)
    }

    /// The heartbeats of a span that are not folded yet, in order.
    pub async fn fresh(&self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let span = Span { from, to, limit: None, before: None };
        let rows = self.store.fresh(self.monitor, &span).await?;
        Ok(rows.into_iter().rev().map(|(place, beat)| self.entry(place, beat)).collect())
    }

    /// All heartbeats of a span, as far as they are kept, in order.
    pub async fn heartbeats(&self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let mut entries = self.fresh(from, to).await?;
        let (monitor, blocks) = (self.monitor, self.store.blocks(self.monitor, from, to).await?);
        let within = move |entry: &Entry| from <= entry.heartbeat.at && entry.heartbeat.at < to;
        Ok(aside(move || {
            for block in blocks {
                entries
                    .extend(block.unpack(monitor).unwrap_or_default().into_iter().filter(within));
            }
            in_order(entries)
        })
        .await)
    }

    pub async fn extent(&self) -> Result<Extent> {
        type Ends = (Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);
        let (folded, folds, heartbeats, hours, days): Ends = read!(self.store, |db| {
            sqlx::query_as(
                "select (select until from folds where monitor_id = $1),
                        (select revision from folds where monitor_id = $1),
                        (select min(from_at) from blocks where monitor_id = $1),
                        (select min(at) from rollups where monitor_id = $1 and grain = $2),
                        (select min(at) from rollups where monitor_id = $1 and grain = $3)",
            )
            .bind(self.monitor.uuid())
            .bind(Grain::Hours as i64)
            .bind(Grain::Days as i64)
            .fetch_one(db)
            .await
        })?;
        let day = |at: Option<i64>| at.map(|at| start_of(DAY, Millis(at)));
        let (heartbeats, hours, days) = (day(heartbeats), day(hours), day(days));
        // Of the first day that is left, the block before may be gone.
        let is_cut = days < heartbeats;
        let heartbeats = heartbeats.map(|at| if is_cut { at.after(DAY) } else { at });
        let (folded, folds) = (folded.map(Millis), folds.unwrap_or(0));
        Ok(Extent { folded, folds, heartbeats, hours, days })
    }

    /// How many times something was folded by now.
    pub async fn folds(&self) -> Result<i64> {
        Ok(self.store.folds(self.monitor).await?.revision)
    }

    /// What fortnights came to that begin between two times. They are there
    /// when they are over; whoever misses one takes its days.
    pub async fn fortnights(&self, from: Millis, to: Millis, depth: Depth) -> Result<Vec<Rollup>> {
        self.rolled(Grain::Fortnights, from, to, depth).await
    }

    /// What folded days came to, from the one at `from` until before `to`.
    pub async fn days(&self, from: Millis, to: Millis, depth: Depth) -> Result<Vec<Rollup>> {
        self.rolled(Grain::Days, from, to, depth).await
    }

    /// What the folded hours of days came to, from the day at `from` until
    /// before `to`.
    pub async fn hours(&self, from: Millis, to: Millis) -> Result<Vec<Rollup>> {
        self.rolled(Grain::Hours, from, to, Depth::Means).await
    }

    async fn rolled(
        &self,
        grain: Grain,
        from: Millis,
        to: Millis,
        depth: Depth,
    ) -> Result<Vec<Rollup>> {
        let rows = self.store.rolled(grain, self.monitor, from, to).await?;
        let monitor = self.monitor;
        match rows.len() {
            0..=FEW => Ok(unpacked(monitor, &rows, depth)),
            _ => Ok(aside(move || unpacked(monitor, &rows, depth)).await),
        }
    }

    /// The last heartbeat before a time that is not folded yet.
    pub async fn last_fresh_before(&self, at: Millis) -> Result<Option<Last>> {
        let span = Span { from: Millis(i64::MIN), to: at, limit: Some(1), before: None };
        let fresh = self.store.fresh(self.monitor, &span).await?.pop();
        Ok(fresh.map(|(place, beat)| Last::of(&self.entry(place, beat))))
    }

    /// The last folded heartbeat before a time, as far back as anything is
    /// known; `hours` are those of its day.
    pub async fn last_folded_before(&self, at: Millis, hours: &[Rollup]) -> Result<Option<Last>> {
        if let Some(hour) = hours.iter().rev().find(|hour| hour.first < at) {
            if hour.last.at < at {
                return Ok(Some(hour.last));
            }
            let entries = self.heartbeats(hour.first, at).await?;
            return Ok(entries.last().map(Last::of));
        }
        let row: Option<Vec<u8>> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select data from rollups
                 where monitor_id = $1 and grain = $2 and at < $3
                 order by at desc
                 limit 1",
            )
            .bind(self.monitor.uuid())
            .bind(Grain::Days as i64)
            .bind(start_of(DAY, at).0)
            .fetch_optional(db)
            .await
        })?;
        let day = row.and_then(|data| unpack(&data, Depth::Means).ok()?.pop());
        Ok(day.map(|day| day.last))
    }
}

fn unpacked(monitor: MonitorId, rows: &[(i64, Vec<u8>)], depth: Depth) -> Vec<Rollup> {
    let mut rollups = Vec::with_capacity(rows.len());
    for (at, data) in rows {
        match unpack(data, depth) {
            Ok(read) => rollups.extend(read),
            Err(_) => {
                let at = Millis(*at);
                tracing::error!(monitor.id = %monitor, "what monitor {monitor} came to on {at} is damaged and left out");
            }
        }
    }
    rollups
}

impl Store {
    /// The outages of a monitor in their order.
    pub(crate) async fn outages(&self, monitor: MonitorId) -> Result<Vec<Outage>> {
        let rows: Vec<(i64, Option<i64>)> = read!(self, |db| {
            sqlx::query_as(
                "select started, ended from alerts
                 where monitor_id = $1 and kind = 'outage'
                 order by started",
            )
            .bind(monitor.uuid())
            .fetch_all(db)
            .await
        })?;
        let outage = |(started, ended): (i64, Option<i64>)| Outage {
            started: Millis(started),
            ended: ended.map(Millis),
        };
        Ok(rows.into_iter().map(outage).collect())
    }
}
