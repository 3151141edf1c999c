//! One monitor's history as a team reads it.

use std::time::Duration;
use wakeful_core::health::Degraded;
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::history::rollup::{Detail, LastHeartbeat, Rollup, unpack};
use wakeful_core::history::stats::OutageStats;
use wakeful_core::history::{DAY, Entry, Exclusions, Outage, Validity, in_order, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::{Interval, Spec};
use wakeful_core::slo::Slo;
use wakeful_core::time::Millis;

use super::{Grain, run_blocking};
use crate::dialect::{from_row, read};
use crate::history::heartbeats::{HeartbeatKey, HeartbeatRange};
use crate::monitors::visible::is_visible;
use crate::{Result, Store, StoreError, TeamStore};

/// Up to this many roll-ups are unpacked inline; more of them take milliseconds.
const INLINE_UNPACK_LIMIT: usize = 31;

pub struct HistoryReader<'a> {
    store: &'a Store,
    monitor: MonitorId,
    validity: Validity,
    outages: Vec<Outage>,
    exclusions: Exclusions,
    settings: HistorySettings,
}

/// The settings of a monitor that its statistics depend on.
#[derive(Clone, Copy, Default)]
struct HistorySettings {
    slow: Option<Duration>,
    slo: Option<Slo>,
    has_readings: bool,
}

struct SettingsRow {
    interval: i64,
    /// Of a job that reports by a schedule.
    spec: Option<String>,
    has_exclusions: bool,
    degraded: Option<String>,
    slo: Option<String>,
    has_readings: bool,
}

from_row!(SettingsRow, |row| Self {
    interval: row.try_get(0)?,
    has_exclusions: row.try_get(1)?,
    degraded: row.try_get(2)?,
    slo: row.try_get(3)?,
    has_readings: row.try_get(4)?,
    spec: row.try_get(5)?,
});

impl SettingsRow {
    fn validity(&self) -> Result<Validity> {
        let damaged = || StoreError::Damaged("monitors");
        let interval =
            u64::try_from(self.interval).ok().and_then(|span| Interval::of_api(span).ok());
        let interval = interval.ok_or_else(damaged)?;
        let Some(spec) = &self.spec else { return Ok(Validity::of_interval(interval)) };
        let spec = Spec::from_json(spec).map_err(|_| damaged())?;
        Ok(Validity::of(&spec, interval))
    }

    fn settings(&self) -> HistorySettings {
        let degraded = self.degraded.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let slow = degraded.map(|degraded: Degraded| degraded.slow).filter(|slow| *slow > 0);
        HistorySettings {
            slow: slow.map(|millis| Duration::from_millis(millis.into())),
            slo: self.slo.as_deref().and_then(|text| serde_json::from_str(text).ok()),
            has_readings: self.has_readings,
        }
    }
}

/// The extent of a history: the first days with compacted data, by kind, and the
/// end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryExtent {
    /// The last compacted heartbeat: later ones are all recent.
    pub compacted_until: Option<Millis>,
    /// The number of compactions.
    pub compactions: i64,
    heartbeats: Option<Millis>,
    hours: Option<Millis>,
    days: Option<Millis>,
}

impl HistoryExtent {
    /// Whether all single heartbeats from a time on are stored.
    pub fn has_heartbeats(&self, from: Millis) -> bool {
        self.reaches(self.heartbeats, from)
    }

    /// Whether all hours from a time on are stored.
    pub fn has_hours(&self, from: Millis) -> bool {
        self.reaches(self.hours, from)
    }

    /// The day that contains a time, or the first stored day if that is later;
    /// `None` when no day is stored.
    pub fn first_day(&self, from: Millis) -> Option<Millis> {
        self.days.map(|days| days.max(start_of(DAY, from)))
    }

    /// Nothing exists before the oldest day, so reaching that day is enough.
    fn reaches(&self, kind: Option<Millis>, from: Millis) -> bool {
        self.first_day(from).is_none_or(|needed| kind.is_some_and(|kind| kind <= needed))
    }
}

impl TeamStore<'_> {
    /// The history of a monitor; `None` when the team has no such monitor.
    pub async fn history(&self, monitor: MonitorId) -> Result<Option<HistoryReader<'_>>> {
        let row: Option<SettingsRow> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select m.heartbeat_interval,
                        exists (select 1 from exclusions e where e.monitor_id = m.id),
                        m.degraded, m.slo,
                        (m.kind = 'ping' and m.spec like '%\"count\":%')
                        or coalesce(m.assertions like '%\"chart\":true%', false),
                        case when m.kind = 'api' and m.spec like '%\"schedule\":%' then m.spec end
                 from monitors m
                 where m.id = $1 and m.team_id = $2 and ",
                is_visible!("3")
            ))
            .bind(monitor.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let validity = row.validity()?;
        let outages = self.store.outages(monitor).await?;
        let exclusions = if row.has_exclusions {
            self.store.exclusions(monitor).await?
        } else {
            Exclusions::default()
        };
        let settings = row.settings();
        Ok(Some(HistoryReader {
            store: self.store,
            monitor,
            validity,
            outages,
            exclusions,
            settings,
        }))
    }
}

impl HistoryReader<'_> {
    /// The statistics of the outages of a span.
    pub fn outage_stats(&self, from: Millis, to: Millis) -> OutageStats {
        OutageStats::within(&self.outages, &self.exclusions, from, to)
    }

    /// The outages of the monitor in their order.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }

    /// What of its history does not count as usual.
    pub fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    pub fn interval(&self) -> u32 {
        self.validity.interval()
    }

    /// The fixed limit above which a check is slow.
    pub fn slow_limit(&self) -> Option<Duration> {
        self.settings.slow
    }

    pub fn slo(&self) -> Option<Slo> {
        self.settings.slo
    }

    /// Whether its checks measure numbers.
    pub fn has_readings(&self) -> bool {
        self.settings.has_readings
    }

    pub(super) fn store(&self) -> &Store {
        self.store
    }

    pub(super) fn monitor(&self) -> MonitorId {
        self.monitor
    }

    pub(super) fn entry(&self, key: HeartbeatKey, heartbeat: Heartbeat) -> Entry {
        let interval = self.validity.interval_at(heartbeat.at);
        Entry::of(key.seq, heartbeat, interval, &self.outages, &self.exclusions)
    }

    /// The heartbeats of a range that are not compacted yet, in order.
    pub async fn recent(&self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let span = HeartbeatRange { from, to, limit: None, before: None };
        let rows = self.store.recent(self.monitor, &span).await?;
        Ok(rows.into_iter().rev().map(|(key, beat)| self.entry(key, beat)).collect())
    }

    /// All stored heartbeats of a range, in order.
    pub async fn heartbeats(&self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let mut entries = self.recent(from, to).await?;
        let (monitor, blocks) = (self.monitor, self.store.blocks(self.monitor, from, to).await?);
        let within = move |entry: &Entry| from <= entry.heartbeat.at && entry.heartbeat.at < to;
        Ok(run_blocking(move || {
            for block in blocks {
                entries
                    .extend(block.unpack(monitor).unwrap_or_default().into_iter().filter(within));
            }
            in_order(entries)
        })
        .await)
    }

    pub async fn extent(&self) -> Result<HistoryExtent> {
        type Ends = (Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);
        let (compacted_until, compactions, heartbeats, hours, days): Ends =
            read!(self.store, |db| {
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
        // An earlier block of the first remaining day may have been deleted.
        let is_cut = days < heartbeats;
        let heartbeats = heartbeats.map(|at| if is_cut { at.after(DAY) } else { at });
        let (compacted_until, compactions) =
            (compacted_until.map(Millis), compactions.unwrap_or(0));
        Ok(HistoryExtent { compacted_until, compactions, heartbeats, hours, days })
    }

    /// The current number of compactions.
    pub async fn compactions(&self) -> Result<i64> {
        Ok(self.store.compaction_state(self.monitor).await?.revision)
    }

    /// Roll-ups of the fortnights that begin in a range. Only fortnights that
    /// have ended are stored; callers use the days for the rest.
    pub async fn fortnights(&self, from: Millis, to: Millis, depth: Detail) -> Result<Vec<Rollup>> {
        self.rollups(Grain::Fortnights, from, to, depth).await
    }

    /// Roll-ups of days, `from` inclusive and `to` exclusive.
    pub async fn days(&self, from: Millis, to: Millis, depth: Detail) -> Result<Vec<Rollup>> {
        self.rollups(Grain::Days, from, to, depth).await
    }

    /// Roll-ups of the hours of days, `from` inclusive and `to` exclusive.
    pub async fn hours(&self, from: Millis, to: Millis) -> Result<Vec<Rollup>> {
        self.rollups(Grain::Hours, from, to, Detail::Means).await
    }

    async fn rollups(
        &self,
        grain: Grain,
        from: Millis,
        to: Millis,
        depth: Detail,
    ) -> Result<Vec<Rollup>> {
        let rows = self.store.rollup_rows(grain, self.monitor, from, to).await?;
        let monitor = self.monitor;
        match rows.len() {
            0..=INLINE_UNPACK_LIMIT => Ok(unpacked(monitor, &rows, depth)),
            _ => Ok(run_blocking(move || unpacked(monitor, &rows, depth)).await),
        }
    }

    /// The last heartbeat before a time that is not compacted yet.
    pub async fn last_fresh_before(&self, at: Millis) -> Result<Option<LastHeartbeat>> {
        let span = HeartbeatRange { from: Millis(i64::MIN), to: at, limit: Some(1), before: None };
        let recent = self.store.recent(self.monitor, &span).await?.pop();
        Ok(recent.map(|(key, beat)| LastHeartbeat::of(&self.entry(key, beat))))
    }

    /// The last compacted heartbeat before a time, as far back as the history
    /// reaches; `hours` are those of its day.
    pub async fn last_compacted_before(
        &self,
        at: Millis,
        hours: &[Rollup],
    ) -> Result<Option<LastHeartbeat>> {
        if let Some(hour) = hours.iter().rev().find(|hour| hour.first < at) {
            if hour.last.at < at {
                return Ok(Some(hour.last));
            }
            let entries = self.heartbeats(hour.first, at).await?;
            return Ok(entries.last().map(LastHeartbeat::of));
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
        let day = row.and_then(|data| unpack(&data, Detail::Means).ok()?.pop());
        Ok(day.map(|day| day.last))
    }
}

fn unpacked(monitor: MonitorId, rows: &[(i64, Vec<u8>)], depth: Detail) -> Vec<Rollup> {
    let mut rollups = Vec::with_capacity(rows.len());
    for (at, data) in rows {
        match unpack(data, depth) {
            Ok(read) => rollups.extend(read),
            Err(_) => {
                let at = Millis(*at);
                tracing::error!(monitor.id = %monitor, "the roll-up of monitor {monitor} at {at} is damaged, skipping it");
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
