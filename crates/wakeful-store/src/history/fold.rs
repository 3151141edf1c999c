//! Folding: fresh heartbeats become part of blocks, and what their hours and
//! days come to is computed anew, as are the fortnights of `fortnights.rs`. One
//! short transaction takes the heartbeats out and puts the blocks in, so each is
//! in exactly one place at any moment, whenever the process dies. Reading and
//! packing happen before it; a revision and the count of what was taken out show
//! that nothing changed meanwhile.

use sqlx::Error;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;
use wakeful_core::history::pack::FULL;
use wakeful_core::history::rollup::{self, Depth, Rollup};
use wakeful_core::history::{DAY, Entry, HOUR, in_order, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;

use super::blocks::{Index, NewBlock, by_block, joins, packed, rows_to_join};
use super::fortnights::{Folds, Fortnight};
use super::{Block, Grain, aside};
use crate::dialect::{either, read, within};
use crate::heartbeats::Place;
use crate::{Result, Store, StoreError, StoredMonitor};

/// What one step of folding did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// How many fresh heartbeats were taken out.
    pub heartbeats: usize,
    /// There was more than one step takes, or somebody else was at it.
    pub more: bool,
}

/// Monitors with something to fold. `last` is where the next page begins,
/// nothing at the end.
#[derive(Clone, Debug)]
pub struct Foldable {
    pub monitors: Vec<MonitorId>,
    pub last: Option<MonitorId>,
}

/// What a step puts into the store.
#[derive(Default)]
struct Work {
    /// Blocks that go, by their beginning.
    gone: Vec<i64>,
    blocks: Vec<NewBlock>,
    hours: Vec<(i64, Vec<u8>)>,
    days: Vec<(i64, Vec<u8>)>,
    fortnights: Vec<Fortnight>,
}

impl Work {
    /// What hours, days and fortnights come to from now on.
    fn rolled(&self) -> impl Iterator<Item = (Grain, i64, &[u8])> {
        let hours = self.hours.iter().map(|(at, data)| (Grain::Hours, *at, &data[..]));
        let days = self.days.iter().map(|(at, data)| (Grain::Days, *at, &data[..]));
        let fortnights = self
            .fortnights
            .iter()
            .filter_map(|(at, data)| Some((Grain::Fortnights, *at, data.as_deref()?)));
        hours.chain(days).chain(fortnights)
    }

    /// Fortnights of which only the days are known.
    fn spoiled(&self) -> impl Iterator<Item = i64> {
        self.fortnights.iter().filter(|(_, data)| data.is_none()).map(|(at, _)| *at)
    }
}

impl Store {
    /// Of the monitors behind `after`, those with a heartbeat older than
    /// `before`, or older than one that is folded already.
    pub async fn foldable(
        &self,
        after: Option<MonitorId>,
        before: Millis,
        limit: u32,
    ) -> Result<Foldable> {
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
        Ok(Foldable { monitors, last })
    }

    /// Folds the oldest `most` heartbeats of a monitor that are no newer than
    /// `until`; those older than `kept` are let go instead.
    pub async fn fold(
        &self,
        monitor: MonitorId,
        until: Millis,
        kept: Millis,
        most: u32,
    ) -> Result<Folded> {
        let done = |more| Folded { heartbeats: 0, more };
        let Some(stored) = self.monitors_by_id(&[monitor]).await?.pop() else {
            return Ok(done(false));
        };
        let folds = self.folds(monitor).await?;
        let fresh = self.oldest_fresh(monitor, decided(&stored, until), most).await?;
        let (Some((first, _)), Some((last, _))) = (fresh.first(), fresh.last()) else {
            return Ok(done(false));
        };
        let (first, last, count) = (*first, *last, fresh.len());
        let interval = stored.monitor.heartbeat_interval.seconds();
        let outages = self.outages(monitor).await?;
        let entry = |(place, beat): (Place, _)| Entry::of(place.seq, beat, interval, &outages);
        let fresh = fresh.into_iter().map(entry).filter(|entry| entry.heartbeat.at >= kept);
        let mut work = self.fold_work(monitor, &folds, fresh.collect()).await?;
        work.fortnights = self.fortnights(monitor, &folds, last.at, &work.days).await?;
        match self.put_fold(monitor, folds.revision, &work, (first, last, count)).await {
            Ok(true) => Ok(Folded { heartbeats: count, more: count == most as usize }),
            // Somebody else folded the same monitor; there the rest is.
            Ok(false) | Err(StoreError::Taken) => Ok(done(true)),
            Err(error) => Err(error),
        }
    }

    async fn fold_work(
        &self,
        monitor: MonitorId,
        folds: &Folds,
        fresh: Vec<Entry>,
    ) -> Result<Work> {
        let mut work = Work::default();
        let Some(first) = fresh.first().map(|entry| entry.heartbeat.at) else { return Ok(work) };
        let nothing_late = folds.until.is_none_or(|until| until < first);
        let mut written: Vec<Entry> = Vec::new();
        if nothing_late {
            // What comes late may belong into a block that would be joined.
            if joins(folds.revision) {
                written.extend(self.join(monitor, &mut work).await?);
            }
            written.extend(put_together(monitor, fresh.clone(), Vec::new(), &mut work).await);
        } else {
            let blocks = self.blocks_from(monitor, first).await?;
            for (block, new) in by_block(&blocks, &fresh) {
                let old = match block {
                    Some(from) => self.block_before(monitor, from.saturating_add(1)).await?,
                    None => None,
                };
                let old = old.into_iter().collect();
                written.extend(put_together(monitor, new, old, &mut work).await);
            }
        }
        let days: BTreeSet<Millis> =
            fresh.iter().map(|entry| start_of(DAY, entry.heartbeat.at)).collect();
        for day in days {
            let known = Known {
                day: self.known_day(monitor, day).await?,
                hours: self.known_hours(monitor, day).await?,
            };
            let of_day = |entry: &&Entry| start_of(DAY, entry.heartbeat.at) == day;
            let fresh: Vec<Entry> = fresh.iter().filter(of_day).cloned().collect();
            let rolled = match known.followed_by(&fresh) {
                Some(rolled) if nothing_late => rolled,
                _ => self.roll_up(monitor, day, (&written, &fresh), known, &work.gone).await?,
            };
            let hours: Vec<Rollup> = rolled.hours.into_values().collect();
            work.hours.push((day.0, rollup::pack(&hours, Depth::Means)));
            let whole: Vec<Rollup> = rolled.day.into_iter().collect();
            work.days.push((day.0, rollup::pack(&whole, Depth::Whole)));
        }
        Ok(work)
    }

    /// Blocks that stand in a row become one; gives their heartbeats.
    async fn join(&self, monitor: MonitorId, work: &mut Work) -> Result<Vec<Entry>> {
        let blocks = self.joinable(monitor).await?;
        let mut written = Vec::new();
        for row in rows_to_join(&blocks) {
            let (from, to) = (Millis(row[0].from), Millis(row[row.len() - 1].from));
            let mut old = self.blocks(monitor, from, Millis(to.0.saturating_add(1))).await?;
            old.retain(|block| row.iter().any(|one| one.from == block.from));
            written.extend(put_together(monitor, Vec::new(), old, work).await);
        }
        Ok(written)
    }

    /// The blocks from the one that a time falls into.
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

    /// The blocks from the first on that may become part of another.
    async fn joinable(&self, monitor: MonitorId) -> Result<Vec<Index>> {
        let first: Option<i64> = read!(self, |db| {
            sqlx::query_scalar(
                "select min(from_at) from blocks where monitor_id = $1 and count < $2",
            )
            .bind(monitor.uuid())
            .bind(FULL as i64 / 2)
            .fetch_one(db)
            .await
        })?;
        match first {
            Some(at) => self.blocks_from(monitor, Millis(at)).await,
            None => Ok(Vec::new()),
        }
    }

    /// What a day comes to with all that is written of it, and its hours.
    async fn roll_up(
        &self,
        monitor: MonitorId,
        day: Millis,
        (written, fresh): (&[Entry], &[Entry]),
        known: Known,
        gone: &[i64],
    ) -> Result<Known> {
        let end = day.after(DAY);
        let of_day = |entry: &&Entry| day <= entry.heartbeat.at && entry.heartbeat.at < end;
        let mut entries: Vec<Entry> = written.iter().filter(of_day).cloned().collect();
        let mut whole = true;
        let mut phases = true;
        for block in self.blocks(monitor, day, end).await? {
            phases &= block.phases.is_some();
            if gone.contains(&block.from) {
                continue;
            }
            match block.entries(monitor).await {
                Ok(read) => entries.extend(read.iter().filter(of_day).cloned()),
                Err(_) => whole = false,
            }
        }
        let entries = in_order(entries);
        let mut new = Known { day: Rollup::of(&entries), hours: of_hours(&entries) };
        if !whole {
            // Some heartbeats are damaged, but what they came to is still known.
            new.day = appended(known.day.clone(), Rollup::of(fresh));
            for (at, hour) in of_hours(fresh) {
                let known = known.hours.get(&at).cloned();
                new.hours.extend(appended(known, Some(hour)).map(|hour| (at, hour)));
            }
            for (at, hour) in &known.hours {
                new.hours.entry(*at).or_insert_with(|| hour.clone());
            }
        }
        if !phases && let Some(day) = &mut new.day {
            keep_phases(day, known.day.as_ref(), fresh);
            for (at, hour) in &mut new.hours {
                let of_hour = |entry: &&Entry| start_of(HOUR, entry.heartbeat.at) == *at;
                let fresh: Vec<Entry> = fresh.iter().filter(of_hour).cloned().collect();
                keep_phases(hour, known.hours.get(at), &fresh);
            }
        }
        Ok(new)
    }

    async fn known_day(&self, monitor: MonitorId, day: Millis) -> Result<Option<Rollup>> {
        let row = self.rolled(Grain::Days, monitor, day, Millis(day.0.saturating_add(1))).await?;
        Ok(row.first().and_then(|(_, data)| rollup::unpack(data, Depth::Whole).ok()?.pop()))
    }

    async fn known_hours(
        &self,
        monitor: MonitorId,
        day: Millis,
    ) -> Result<BTreeMap<Millis, Rollup>> {
        let row = self.rolled(Grain::Hours, monitor, day, Millis(day.0.saturating_add(1))).await?;
        let hours = row.first().and_then(|(_, data)| rollup::unpack(data, Depth::Means).ok());
        let hours = hours.unwrap_or_default().into_iter();
        Ok(hours.map(|hour| (start_of(HOUR, hour.first), hour)).collect())
    }

    /// False, and nothing changed, when something else did meanwhile.
    async fn put_fold(
        &self,
        monitor: MonitorId,
        revision: i64,
        work: &Work,
        (first, last, count): (Place, Place, usize),
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let taken = within!(tx, |db| {
            // The monitor cannot go before the blocks are there for its grave.
            let there: Option<i64> = sqlx::query_scalar(self.hold_monitor())
                .bind(monitor.uuid())
                .fetch_optional(&mut *db)
                .await?;
            if there.is_none() {
                return Ok(false);
            }
            let raised = sqlx::query(
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
            .bind(last.at.0)
            .execute(&mut *db)
            .await?;
            let deleted = sqlx::query(
                "delete from heartbeats
                 where monitor_id = $1 and (at, seq) >= ($2, $3) and (at, seq) <= ($4, $5)",
            )
            .bind(monitor.uuid())
            .bind(first.at.0)
            .bind(first.seq)
            .bind(last.at.0)
            .bind(last.seq)
            .execute(&mut *db)
            .await?;
            if raised.rows_affected() == 0 || deleted.rows_affected() != count as u64 {
                return Ok(false);
            }
            for from in &work.gone {
                sqlx::query("delete from blocks where monitor_id = $1 and from_at = $2")
                    .bind(monitor.uuid())
                    .bind(from)
                    .execute(&mut *db)
                    .await?;
            }
            for (from, to, count, packed) in &work.blocks {
                let phases = Some(&packed.phases[..]).filter(|phases| !phases.is_empty());
                let regions = Some(&packed.regions[..]).filter(|regions| !regions.is_empty());
                sqlx::query(
                    "insert into blocks (monitor_id, from_at, to_at, count, data, phases, regions)
                     values ($1, $2, $3, $4, $5, $6, $7)",
                )
                .bind(monitor.uuid())
                .bind(from)
                .bind(to)
                .bind(count)
                .bind(&packed.data[..])
                .bind(phases)
                .bind(regions)
                .execute(&mut *db)
                .await?;
            }
            for (grain, at, data) in work.rolled() {
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
            for at in work.spoiled() {
                sqlx::query("delete from rollups where monitor_id = $1 and grain = $2 and at = $3")
                    .bind(monitor.uuid())
                    .bind(Grain::Fortnights as i64)
                    .bind(at)
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, Error>(true)
        })?;
        if taken {
            tx.commit().await?;
        }
        Ok(taken)
    }

    fn hold_monitor(&self) -> &'static str {
        either!(
            self,
            sqlite: "select created from monitors where id = $1",
            postgres: "select created from monitors where id = $1 for key share"
        )
    }
}

/// Until when the standing of heartbeats is known: failures that may yet turn
/// out to be an outage wait.
fn decided(stored: &StoredMonitor, until: Millis) -> Millis {
    match &stored.state.failing {
        Some(row) if stored.state.status != Status::Down => {
            until.min(Millis(row.started.0.saturating_sub(1)))
        }
        _ => until,
    }
}

/// What is known of a day: what it and its hours came to.
struct Known {
    day: Option<Rollup>,
    hours: BTreeMap<Millis, Rollup>,
}

impl Known {
    /// With what is new of the day behind it; nothing when something of what
    /// was before is not known.
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

/// What the hours of heartbeats come to.
fn of_hours(entries: &[Entry]) -> BTreeMap<Millis, Rollup> {
    let hour = |entry: &Entry| start_of(HOUR, entry.heartbeat.at);
    let hours = entries.chunk_by(|one, two| hour(one) == hour(two));
    hours.filter_map(Rollup::of).map(|hour| (start_of(HOUR, hour.first), hour)).collect()
}

/// Packs heartbeats with those of some blocks, which go; gives all of them.
async fn put_together(
    monitor: MonitorId,
    mut entries: Vec<Entry>,
    old: Vec<Block>,
    work: &mut Work,
) -> Vec<Entry> {
    let is_new = !entries.is_empty();
    let (gone, blocks, entries) = aside(move || {
        let mut gone = Vec::new();
        for block in old {
            // A damaged block stays as it is, beside a new one.
            if let Ok(read) = block.unpack(monitor) {
                entries.extend(read);
                gone.push(block.from);
            }
        }
        let (blocks, entries) = packed(entries);
        (gone, blocks, entries)
    })
    .await;
    // Of a row that is damaged but for one there is nothing to put together.
    if is_new || gone.len() > 1 {
        work.gone.extend(gone);
        work.blocks.extend(blocks);
        return entries;
    }
    Vec::new()
}

/// What is known with what is new behind it.
fn appended(known: Option<Rollup>, new: Option<Rollup>) -> Option<Rollup> {
    match (known, new) {
        (Some(mut known), Some(new)) if known.last.at <= new.first => {
            known.merge(&new);
            Some(known)
        }
        (Some(known), _) => Some(known),
        (None, new) => new,
    }
}

/// Where phases were let go already, what they came to stays.
fn keep_phases(rollup: &mut Rollup, before: Option<&Rollup>, fresh: &[Entry]) {
    let Some(before) = before else { return };
    let mut phases = before.times.phases.clone();
    if let Some(new) = Rollup::of(fresh) {
        for (ours, theirs) in phases.iter_mut().zip(&new.times.phases) {
            ours.merge(theirs);
        }
    }
    rollup.times.phases = phases;
}
