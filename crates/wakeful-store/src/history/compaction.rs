//! Compaction: recent heartbeats are packed into blocks, and the roll-ups of their
//! hours, days and fortnights (`fortnights.rs`) are recomputed. One short
//! transaction deletes the heartbeats and inserts the blocks, so a heartbeat is
//! in exactly one place at any moment, even if the process dies. Reading and
//! packing happen before it; a revision and the number of deleted heartbeats
//! show that nothing has changed in the meantime.

use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::history::block_codec::BLOCK_CAPACITY;
use wakeful_core::history::rollup::{self, Detail, Rollup};
use wakeful_core::history::{DAY, Entry, HOUR, Validity, in_order, start_of};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;

use super::blocks::{Index, NewBlock, by_block, joins_blocks, packed, runs_to_join};
use super::fortnights::{CompactionState, Fortnight};
use super::{Block, Grain, run_blocking};
use crate::dialect::{Tx, either, read, within};
use crate::history::heartbeats::HeartbeatKey;
use crate::{Result, Store, StoreError, StoredMonitor};

/// The outcome of one compaction step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionResult {
    /// The number of recent heartbeats that were compacted.
    pub heartbeats: usize,
    /// More is left than fits into one step, or another node compacted this monitor.
    pub more: bool,
    /// The team of a monitor that is compared with its usual times, which may have changed.
    pub compared: Option<TeamId>,
}

/// Monitors with heartbeats to compact. `last` is where the next page begins,
/// `None` at the end.
#[derive(Clone, Debug)]
pub struct CompactionCandidates {
    pub monitors: Vec<MonitorId>,
    pub last: Option<MonitorId>,
}

/// The recent heartbeats that a compaction step replaces with blocks.
#[derive(Clone, Copy)]
struct RecentRange {
    first: HeartbeatKey,
    last: HeartbeatKey,
    count: usize,
}

/// The changes that a compaction step writes.
#[derive(Default)]
pub(super) struct CompactionPlan {
    /// Blocks to delete, by their start.
    pub(super) replaced: Vec<i64>,
    pub(super) blocks: Vec<NewBlock>,
    hours: Vec<(i64, Vec<u8>)>,
    pub(super) days: Vec<(i64, Vec<u8>)>,
    pub(super) fortnights: Vec<Fortnight>,
}

impl CompactionPlan {
    /// The new roll-ups of hours, days and fortnights.
    fn rollups(&self) -> impl Iterator<Item = (Grain, i64, &[u8])> {
        let hours = self.hours.iter().map(|(at, data)| (Grain::Hours, *at, &data[..]));
        let days = self.days.iter().map(|(at, data)| (Grain::Days, *at, &data[..]));
        let fortnights = self
            .fortnights
            .iter()
            .filter_map(|(at, data)| Some((Grain::Fortnights, *at, data.as_deref()?)));
        hours.chain(days).chain(fortnights)
    }

    fn add_day(&mut self, day: Millis, rolled: KnownRollups) {
        let hours: Vec<Rollup> = rolled.hours.into_values().collect();
        self.hours.push((day.0, rollup::pack(&hours, Detail::Means)));
        let whole: Vec<Rollup> = rolled.day.into_iter().collect();
        self.days.push((day.0, rollup::pack(&whole, Detail::Full)));
    }

    /// Fortnights to delete, because only their days are stored.
    fn dropped_fortnights(&self) -> impl Iterator<Item = i64> {
        self.fortnights.iter().filter(|(_, data)| data.is_none()).map(|(at, _)| *at)
    }
}

impl Store {
    /// Of the monitors after `after`, those with a recent heartbeat older than
    /// `before`, or older than one that has been compacted already.
    pub async fn compaction_candidates(
        &self,
        after: Option<MonitorId>,
        before: Millis,
        limit: u32,
    ) -> Result<CompactionCandidates> {
        let rows: Vec<(Uuid, Option<i64>, Option<i64>)> = read!(self, |db| {
            sqlx::query_as(
                "select m.id,
                        (select min(h.at) from heartbeats h where h.monitor_id = m.id),
                        (select f.until from folds f where f.monitor_id = m.id)
                 from monitors m
                 where m.id > $1
                 order by m.id
                 limit $2",
            )
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        let is_due = |oldest: Option<i64>, until: Option<i64>| {
            oldest.is_some_and(|oldest| oldest < before.0 || until.is_some_and(|at| oldest <= at))
        };
        let due = rows.iter().filter(|(_, oldest, until)| is_due(*oldest, *until));
        let monitors = due.map(|(id, ..)| (*id).into()).collect();
        let last = rows.last().map(|(id, ..)| (*id).into());
        Ok(CompactionCandidates { monitors, last })
    }

    /// Compacts the oldest `limit` heartbeats of a monitor that are no newer than
    /// `until`; those older than `oldest_retained` are deleted instead.
    pub async fn compact(
        &self,
        monitor: MonitorId,
        until: Millis,
        oldest_retained: Millis,
        limit: u32,
    ) -> Result<CompactionResult> {
        let done = |more| CompactionResult { heartbeats: 0, more, compared: None };
        let Some(stored) = self.monitors_by_id(&[monitor]).await?.pop() else {
            return Ok(done(false));
        };
        let state = self.compaction_state(monitor).await?;
        let recent = self.oldest_recent(monitor, decided_until(&stored, until), limit).await?;
        let (Some((first, _)), Some((last, _))) = (recent.first(), recent.last()) else {
            return Ok(done(false));
        };
        let range = RecentRange { first: *first, last: *last, count: recent.len() };
        let Monitor { spec, heartbeat_interval, .. } = &stored.monitor;
        let validity = Validity::of(spec, *heartbeat_interval);
        let outages = self.outages(monitor).await?;
        let exclusions = self.exclusions(monitor).await?;
        let entry = |(key, beat): (HeartbeatKey, Heartbeat)| {
            let interval = validity.interval_at(beat.at);
            Entry::of(key.seq, beat, interval, &outages, &exclusions)
        };
        let recent =
            recent.into_iter().map(entry).filter(|entry| entry.heartbeat.at >= oldest_retained);
        let mut plan = self.plan_compaction(monitor, &state, recent.collect()).await?;
        plan.fortnights = self.fortnights(monitor, &state, range.last.at, &plan.days).await?;
        match self.commit_compaction(monitor, state.revision, range, &plan).await {
            Ok(true) => Ok(CompactionResult {
                heartbeats: range.count,
                more: range.count == limit as usize,
                compared: compared(&stored.monitor),
            }),
            // Another node compacted the same monitor: plan again.
            Ok(false) | Err(StoreError::Taken) => Ok(done(true)),
            Err(error) => Err(error),
        }
    }

    async fn plan_compaction(
        &self,
        monitor: MonitorId,
        state: &CompactionState,
        recent: Vec<Entry>,
    ) -> Result<CompactionPlan> {
        let mut plan = CompactionPlan::default();
        let Some(first) = recent.first().map(|entry| entry.heartbeat.at) else { return Ok(plan) };
        let nothing_late = state.until.is_none_or(|until| until < first);
        let mut written: Vec<Entry> = Vec::new();
        if nothing_late {
            // Only without late heartbeats: one may belong to a block to be joined.
            if joins_blocks(state.revision) {
                written.extend(self.join(monitor, &mut plan).await?);
            }
            written.extend(repack(monitor, recent.clone(), Vec::new(), &mut plan).await);
        } else {
            let blocks = self.blocks_from(monitor, first).await?;
            for (block, new) in by_block(&blocks, &recent) {
                let old = match block {
                    Some(from) => self.block_before(monitor, from.saturating_add(1)).await?,
                    None => None,
                };
                let old = old.into_iter().collect();
                written.extend(repack(monitor, new, old, &mut plan).await);
            }
        }
        let days: BTreeSet<Millis> =
            recent.iter().map(|entry| start_of(DAY, entry.heartbeat.at)).collect();
        for day in days {
            let known = KnownRollups {
                day: self.known_day(monitor, day).await?,
                hours: self.known_hours(monitor, day).await?,
            };
            let of_day = |entry: &&Entry| start_of(DAY, entry.heartbeat.at) == day;
            let recent: Vec<Entry> = recent.iter().filter(of_day).cloned().collect();
            let rolled = match known.followed_by(&recent) {
                Some(rolled) if nothing_late => rolled,
                _ => {
                    let step = StepEntries {
                        recent: &recent,
                        written: &written,
                        replaced: &plan.replaced,
                    };
                    self.roll_up(monitor, day, step, known).await?
                }
            };
            plan.add_day(day, rolled);
        }
        Ok(plan)
    }

    /// Computes the roll-ups of days again whose compacted heartbeats have changed.
    pub(super) async fn roll_up_again(
        &self,
        monitor: MonitorId,
        days: BTreeSet<Millis>,
        written: &[Entry],
        plan: &mut CompactionPlan,
    ) -> Result<()> {
        for day in days {
            let known = KnownRollups {
                day: self.known_day(monitor, day).await?,
                hours: self.known_hours(monitor, day).await?,
            };
            let step = StepEntries { recent: &[], written, replaced: &plan.replaced };
            let rolled = self.roll_up(monitor, day, step, known).await?;
            plan.add_day(day, rolled);
        }
        Ok(())
    }

    /// Joins adjacent blocks; returns their heartbeats.
    async fn join(&self, monitor: MonitorId, plan: &mut CompactionPlan) -> Result<Vec<Entry>> {
        let blocks = self.joinable(monitor).await?;
        let mut written = Vec::new();
        for row in runs_to_join(&blocks) {
            let (from, to) = (Millis(row[0].from), Millis(row[row.len() - 1].from));
            let mut old = self.blocks(monitor, from, Millis(to.0.saturating_add(1))).await?;
            old.retain(|block| row.iter().any(|one| one.from == block.from));
            written.extend(repack(monitor, Vec::new(), old, plan).await);
        }
        Ok(written)
    }

    /// The blocks from the one that contains a time.
    async fn blocks_from(&self, monitor: MonitorId, at: Millis) -> Result<Vec<Index>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select from_at, to_at, count, phases is not null as has_phases
                 from blocks
                 where monitor_id = $1
                 and from_at >= coalesce((select max(b.from_at) from blocks b
                                          where b.monitor_id = $1 and b.from_at <= $2), $2)
                 order by from_at",
            )
            .bind(monitor.uuid())
            .bind(at.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// The blocks from the first one that may be joined.
    async fn joinable(&self, monitor: MonitorId) -> Result<Vec<Index>> {
        let first: Option<i64> = read!(self, |db| {
            sqlx::query_scalar(
                "select min(from_at) from blocks where monitor_id = $1 and count < $2",
            )
            .bind(monitor.uuid())
            .bind(BLOCK_CAPACITY as i64 / 2)
            .fetch_one(db)
            .await
        })?;
        match first {
            Some(at) => self.blocks_from(monitor, Millis(at)).await,
            None => Ok(Vec::new()),
        }
    }

    /// Computes the roll-ups of a day and its hours from all of its heartbeats.
    async fn roll_up(
        &self,
        monitor: MonitorId,
        day: Millis,
        StepEntries { recent, written, replaced }: StepEntries<'_>,
        known: KnownRollups,
    ) -> Result<KnownRollups> {
        let end = day.after(DAY);
        let of_day = |entry: &&Entry| day <= entry.heartbeat.at && entry.heartbeat.at < end;
        let mut entries: Vec<Entry> = written.iter().filter(of_day).cloned().collect();
        let mut whole = true;
        let mut phases = true;
        for block in self.blocks(monitor, day, end).await? {
            phases &= block.phases.is_some();
            if replaced.contains(&block.from) {
                continue;
            }
            match block.entries(monitor).await {
                Ok(read) => entries.extend(read.iter().filter(of_day).cloned()),
                Err(_) => whole = false,
            }
        }
        let entries = in_order(entries);
        let mut new = KnownRollups { day: Rollup::of(&entries), hours: of_hours(&entries) };
        if !whole {
            // Some heartbeats are damaged, but their roll-ups are still there.
            new.day = merged(known.day.clone(), Rollup::of(recent));
            for (at, hour) in of_hours(recent) {
                let known = known.hours.get(&at).cloned();
                new.hours.extend(merged(known, Some(hour)).map(|hour| (at, hour)));
            }
            for (at, hour) in &known.hours {
                new.hours.entry(*at).or_insert_with(|| hour.clone());
            }
        }
        if !phases && let Some(day) = &mut new.day {
            restore_phases(day, known.day.as_ref(), recent);
            for (at, hour) in &mut new.hours {
                let of_hour = |entry: &&Entry| start_of(HOUR, entry.heartbeat.at) == *at;
                let recent: Vec<Entry> = recent.iter().filter(of_hour).cloned().collect();
                restore_phases(hour, known.hours.get(at), &recent);
            }
        }
        Ok(new)
    }

    async fn known_day(&self, monitor: MonitorId, day: Millis) -> Result<Option<Rollup>> {
        let row =
            self.rollup_rows(Grain::Days, monitor, day, Millis(day.0.saturating_add(1))).await?;
        Ok(row.first().and_then(|(_, data)| rollup::unpack(data, Detail::Full).ok()?.pop()))
    }

    async fn known_hours(
        &self,
        monitor: MonitorId,
        day: Millis,
    ) -> Result<BTreeMap<Millis, Rollup>> {
        let row =
            self.rollup_rows(Grain::Hours, monitor, day, Millis(day.0.saturating_add(1))).await?;
        let hours = row.first().and_then(|(_, data)| rollup::unpack(data, Detail::Means).ok());
        let hours = hours.unwrap_or_default().into_iter();
        Ok(hours.map(|hour| (start_of(HOUR, hour.first), hour)).collect())
    }

    /// False, without any change, when the monitor's history has changed in the
    /// meantime.
    async fn commit_compaction(
        &self,
        monitor: MonitorId,
        revision: i64,
        range: RecentRange,
        plan: &CompactionPlan,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let is_unchanged = self.lock_monitor(&mut tx, monitor).await?
            && raise_revision(&mut tx, monitor, revision, range.last.at).await?
            && delete_recent(&mut tx, monitor, range).await?;
        if !is_unchanged {
            return Ok(false);
        }
        write_plan(&mut tx, monitor, plan).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Writes changed blocks and their roll-ups; false, without any change, when the
    /// monitor's history has changed in the meantime.
    pub(super) async fn commit_recount(
        &self,
        monitor: MonitorId,
        state: &CompactionState,
        plan: &CompactionPlan,
    ) -> Result<bool> {
        let until = state.until.unwrap_or(Millis(i64::MIN));
        let mut tx = self.begin().await?;
        let is_unchanged = self.lock_monitor(&mut tx, monitor).await?
            && raise_revision(&mut tx, monitor, state.revision, until).await?;
        if is_unchanged {
            write_plan(&mut tx, monitor, plan).await?;
            tx.commit().await?;
        }
        Ok(is_unchanged)
    }

    /// Locks the monitor, so that a deletion also covers the new blocks; false when
    /// there is no such monitor.
    async fn lock_monitor(&self, tx: &mut Tx, monitor: MonitorId) -> Result<bool> {
        let sql = either!(
            self,
            sqlite: "select created from monitors where id = $1",
            postgres: "select created from monitors where id = $1 for key share"
        );
        let found: Option<i64> = within!(*tx, |db| {
            sqlx::query_scalar(sql).bind(monitor.uuid()).fetch_optional(db).await
        })?;
        Ok(found.is_some())
    }
}

fn compared(monitor: &Monitor) -> Option<TeamId> {
    let degraded = monitor.degraded.as_ref().filter(|degraded| degraded.factor > 0);
    degraded.map(|_| monitor.team)
}

async fn write_plan(tx: &mut Tx, monitor: MonitorId, plan: &CompactionPlan) -> Result<()> {
    delete_blocks(tx, monitor, &plan.replaced).await?;
    insert_blocks(tx, monitor, &plan.blocks).await?;
    write_rollups(tx, monitor, plan).await
}

/// Raises the revision of a monitor's compaction; false when it no longer has this
/// one.
async fn raise_revision(
    tx: &mut Tx,
    monitor: MonitorId,
    revision: i64,
    until: Millis,
) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query(
            "insert into folds (monitor_id, revision, until)
             values ($1, $2 + 1, $3)
             on conflict (monitor_id) do update
             set revision = excluded.revision,
                 until = case when folds.until > excluded.until
                              then folds.until else excluded.until end
             where folds.revision = $2",
        )
        .bind(monitor.uuid())
        .bind(revision)
        .bind(until.0)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

/// Deletes the recent heartbeats of a range; false when their number has changed.
async fn delete_recent(tx: &mut Tx, monitor: MonitorId, range: RecentRange) -> Result<bool> {
    let RecentRange { first, last, count } = range;
    Ok(within!(*tx, |db| {
        sqlx::query(
            "delete from heartbeats
             where monitor_id = $1 and (at, seq) >= ($2, $3) and (at, seq) <= ($4, $5)",
        )
        .bind(monitor.uuid())
        .bind(first.at.0)
        .bind(first.seq)
        .bind(last.at.0)
        .bind(last.seq)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == count as u64)
    })?)
}

async fn delete_blocks(tx: &mut Tx, monitor: MonitorId, starts: &[i64]) -> Result<()> {
    within!(*tx, |db| {
        for from in starts {
            sqlx::query("delete from blocks where monitor_id = $1 and from_at = $2")
                .bind(monitor.uuid())
                .bind(from)
                .execute(&mut *db)
                .await?;
        }
    });
    Ok(())
}

async fn insert_blocks(tx: &mut Tx, monitor: MonitorId, blocks: &[NewBlock]) -> Result<()> {
    within!(*tx, |db| {
        for NewBlock { from, to, count, packed } in blocks {
            let phases = Some(&packed.phases[..]).filter(|phases| !phases.is_empty());
            let regions = Some(&packed.regions[..]).filter(|regions| !regions.is_empty());
            let readings = Some(&packed.readings[..]).filter(|readings| !readings.is_empty());
            sqlx::query(
                "insert into blocks
                 (monitor_id, from_at, to_at, count, data, phases, regions, readings)
                 values ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(monitor.uuid())
            .bind(from)
            .bind(to)
            .bind(count)
            .bind(&packed.data[..])
            .bind(phases)
            .bind(regions)
            .bind(readings)
            .execute(&mut *db)
            .await?;
        }
    });
    Ok(())
}

async fn write_rollups(tx: &mut Tx, monitor: MonitorId, plan: &CompactionPlan) -> Result<()> {
    within!(*tx, |db| {
        for (grain, at, data) in plan.rollups() {
            sqlx::query(
                "insert into rollups (monitor_id, grain, at, data) values ($1, $2, $3, $4)
                 on conflict (monitor_id, grain, at) do update set data = excluded.data",
            )
            .bind(monitor.uuid())
            .bind(grain as i64)
            .bind(at)
            .bind(data)
            .execute(&mut *db)
            .await?;
        }
        for at in plan.dropped_fortnights() {
            sqlx::query("delete from rollups where monitor_id = $1 and grain = $2 and at = $3")
                .bind(monitor.uuid())
                .bind(Grain::Fortnights as i64)
                .bind(at)
                .execute(&mut *db)
                .await?;
        }
    });
    Ok(())
}

/// The time until which heartbeats are final: failures that may still become an
/// outage are not compacted yet.
fn decided_until(stored: &StoredMonitor, until: Millis) -> Millis {
    match &stored.state.failing {
        Some(row) if stored.state.status != Status::Down => {
            until.min(Millis(row.started.0.saturating_sub(1)))
        }
        _ => until,
    }
}

/// The heartbeats of a compaction step that the roll-ups of a day depend on.
struct StepEntries<'a> {
    /// The recent heartbeats of the day.
    recent: &'a [Entry],
    /// All heartbeats of the new blocks.
    written: &'a [Entry],
    /// The blocks that the new ones replace, by their start.
    replaced: &'a [i64],
}

/// The stored roll-ups of a day and its hours.
struct KnownRollups {
    day: Option<Rollup>,
    hours: BTreeMap<Millis, Rollup>,
}

impl KnownRollups {
    /// The roll-ups extended by later heartbeats of the day; `None` when the
    /// stored ones are incomplete.
    fn followed_by(&self, new: &[Entry]) -> Option<Self> {
        let (mut day, mut hours) = (self.day.clone()?, self.hours.clone());
        let begin = new.first()?.heartbeat.at;
        let is_whole = hours.last_key_value().is_some_and(|(_, hour)| hour.last == day.last);
        if !is_whole || day.last.at >= begin {
            return None;
        }
        day.merge(&Rollup::of(new)?);
        for (at, hour) in of_hours(new) {
            hours.entry(at).and_modify(|known| known.merge(&hour)).or_insert(hour);
        }
        Some(Self { day: Some(day), hours })
    }
}

/// The roll-ups of each hour of these heartbeats.
fn of_hours(entries: &[Entry]) -> BTreeMap<Millis, Rollup> {
    let hour = |entry: &Entry| start_of(HOUR, entry.heartbeat.at);
    let hours = entries.chunk_by(|one, two| hour(one) == hour(two));
    hours.filter_map(Rollup::of).map(|hour| (start_of(HOUR, hour.first), hour)).collect()
}

/// Packs heartbeats together with those of `old` blocks, which are replaced;
/// returns all of them.
async fn repack(
    monitor: MonitorId,
    mut entries: Vec<Entry>,
    old: Vec<Block>,
    plan: &mut CompactionPlan,
) -> Vec<Entry> {
    let is_new = !entries.is_empty();
    let (replaced, blocks, entries) = run_blocking(move || {
        let mut replaced = Vec::new();
        for block in old {
            // A damaged block stays as it is, next to a new one.
            if let Ok(read) = block.unpack(monitor) {
                entries.extend(read);
                replaced.push(block.from);
            }
        }
        let (blocks, entries) = packed(entries);
        (replaced, blocks, entries)
    })
    .await;
    // A run with only one intact block leaves nothing to join.
    if is_new || replaced.len() > 1 {
        plan.replaced.extend(replaced);
        plan.blocks.extend(blocks);
        return entries;
    }
    Vec::new()
}

/// The stored roll-up extended by a later one.
fn merged(known: Option<Rollup>, new: Option<Rollup>) -> Option<Rollup> {
    match (known, new) {
        (Some(mut known), Some(new)) if known.last.at <= new.first => {
            known.merge(&new);
            Some(known)
        }
        (Some(known), _) => Some(known),
        (None, new) => new,
    }
}

/// Where the phases of heartbeats have been deleted, keeps their roll-up.
fn restore_phases(rollup: &mut Rollup, before: Option<&Rollup>, recent: &[Entry]) {
    let Some(before) = before else { return };
    let mut phases = before.times.phases.clone();
    if let Some(new) = Rollup::of(recent) {
        for (ours, theirs) in phases.iter_mut().zip(&new.times.phases) {
            ours.merge(theirs);
        }
    }
    rollup.times.phases = phases;
}
