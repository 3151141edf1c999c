//! Compaction and retention: in whatever order heartbeats arrive, each is stored
//! once, and the roll-ups of days match a simple model.

use std::collections::BTreeMap;
use std::time::Duration;
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::heartbeat::{Beat, Phases};
use wakeful_core::history::rollup::{Detail, Rollup};
use wakeful_core::history::sketch::Sketch;
use wakeful_core::history::{DAY, Entry, Exclusions, HOUR, HistoryStatus, Outage, start_of};
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{FailureStreak, Status};
use wakeful_store::{HeartbeatKey, HeartbeatRange, Record, RetentionLimits, Store};
use wakeful_testkit::{Database, DatabaseKind, both_databases, system, whole};

use crate::fixture::{NOW, monitor, next, passing, team};
use crate::heartbeats::everything;
use crate::on_both;

on_both! {
    days_match_a_model_for_heartbeats_in_any_order => out_of_order;
    days_match_a_model_for_heartbeats_in_order => in_order;
    a_heartbeat_recorded_again_after_compaction_counts_once => replayed;
    failures_that_may_become_an_outage_are_not_compacted_yet => undecided;
    small_blocks_are_joined_into_full_ones => joined;
    pages_are_full_while_heartbeats_are_compacted_and_blocks_joined => paged;
    expired_heartbeats_are_deleted_and_days_stay => expired;
    concurrent_compactions_run_once => concurrently;
    history_is_deleted_with_its_monitor => deleted_with_monitor;
}

const FOREVER: Millis = Millis(i64::MIN);
const LATER: Millis = Millis(i64::MAX - 1);

async fn site(store: &Store) -> (TeamId, Monitor) {
    let team = team(store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    (team, saved_monitor)
}

/// A random number generator that repeats itself for the same seed.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn record(rng: &mut Rng, monitor: MonitorId, seq: i64, at: Millis) -> Record {
    let mut record = passing(monitor, seq, at);
    let span = |rng: &mut Rng| Some(Duration::from_micros(rng.below(900_000)));
    record.heartbeat.load_time = span(rng);
    record.heartbeat.phases = Phases { tls: span(rng), first_byte: span(rng), ..Phases::default() };
    match rng.below(10) {
        0 => {
            record.heartbeat.status = Beat::Down;
            record.heartbeat.message = format!("50{} trouble", rng.below(4));
        }
        1 => record.heartbeat.status = Beat::Unknown,
        _ => {}
    }
    record
}

async fn read(
    store: &Store,
    team: TeamId,
    monitor: MonitorId,
) -> Vec<(HeartbeatKey, wakeful_core::heartbeat::Heartbeat)> {
    store.team(&whole(team)).heartbeats(monitor, &everything()).await.expect("read").expect("there")
}

async fn days(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(&whole(team));
    let history = team.history(monitor).await.expect("read").expect("there");
    history.days(FOREVER, LATER, Detail::Full).await.expect("read")
}

async fn hours(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(&whole(team));
    let history = team.history(monitor).await.expect("read").expect("there");
    history.hours(FOREVER, LATER).await.expect("read")
}

/// The roll-ups of heartbeats by hours or days.
fn rollups(entries: &[Entry], grain: Duration) -> Vec<Rollup> {
    let begin = |entry: &Entry| start_of(grain, entry.heartbeat.at);
    entries.chunk_by(|one, two| begin(one) == begin(two)).filter_map(Rollup::of).collect()
}

async fn out_of_order(store: Store) {
    matches_model(store, 8).await;
}

async fn in_order(store: Store) {
    matches_model(store, u64::MAX).await;
}

/// One in `late` heartbeats arrives late.
async fn matches_model(store: Store, late: u64) {
    let (team, saved_monitor) = site(&store).await;
    let outage =
        Outage { started: Millis(NOW.0 + 30_000_000), ended: Some(Millis(NOW.0 + 50_000_000)) };
    let mut opening = passing(saved_monitor.id, 0, NOW);
    opening.opens.push(Alert {
        id: AlertId::new(NOW, next()),
        team,
        monitor: saved_monitor.id,
        kind: AlertKind::Outage,
        severity: Default::default(),
        cause: String::new(),
        reason: None,
        started: outage.started,
        ended: outage.ended,
    });
    store.record(&[opening.clone()]).await.expect("recorded");
    let mut model = BTreeMap::from([((NOW, 0), opening.heartbeat.clone())]);
    let (mut rng, mut seq) = (Rng(0x5EED), 0);
    for round in 0..12 {
        // Most arrive in order, some late, some twice, some in the same millisecond.
        let mut records = Vec::new();
        for _ in 0..120 {
            seq += 1;
            let late = if rng.below(late) == 0 { rng.below(90_000_000) as i64 } else { 0 };
            let at = Millis(NOW.0 + seq / 2 * 120_000 - late.min(seq * 60_000));
            let record = record(&mut rng, saved_monitor.id, seq, at);
            model.insert((at, seq), record.heartbeat.clone());
            if rng.below(20) == 0 {
                records.push(record.clone());
            }
            records.push(record);
        }
        store.record(&records).await.expect("recorded");
        let until = Millis(NOW.0 + seq * 60_000 - rng.below(20_000_000) as i64);
        let limit = 1 + rng.below(300) as u32;
        store.compact(saved_monitor.id, until, FOREVER, limit).await.expect("compacted");
        let expected: Vec<_> = model
            .iter()
            .rev()
            .map(|((at, seq), beat)| (HeartbeatKey { at: *at, seq: *seq }, beat.clone()))
            .collect();
        assert_eq!(read(&store, team, saved_monitor.id).await, expected, "round {round}");
    }
    while store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats
        > 0
    {}
    let none = Exclusions::default();
    let entries: Vec<Entry> = model
        .into_iter()
        .map(|((_, seq), beat)| Entry::of(seq, beat, 60, &[outage], &none))
        .collect();
    assert!(entries.iter().any(|entry| entry.standing == HistoryStatus::Down));
    assert!(entries.iter().any(|entry| entry.standing == HistoryStatus::Pending));
    assert_eq!(days(&store, team, saved_monitor.id).await, rollups(&entries, DAY));
    let mut expected = rollups(&entries, HOUR);
    for hour in &mut expected {
        // Hours have only the means of phases.
        hour.times.phases.iter_mut().for_each(|phase| phase.sketch = Sketch::default());
    }
    assert_eq!(hours(&store, team, saved_monitor.id).await, expected);
}

async fn replayed(store: Store) {
    let (team, saved_monitor) = site(&store).await;
    let records: Vec<Record> =
        (1..=50).map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    store.record(&records).await.expect("recorded");
    let before = (read(&store, team, saved_monitor.id).await, 50);
    assert_eq!(
        store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats,
        50
    );
    let rolled_up = days(&store, team, saved_monitor.id).await;
    store.record(&records[10..20]).await.expect("recorded again");
    assert_eq!(read(&store, team, saved_monitor.id).await, before.0);
    assert_eq!(
        store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats,
        10
    );
    assert_eq!(read(&store, team, saved_monitor.id).await.len(), before.1);
    assert_eq!(days(&store, team, saved_monitor.id).await, rolled_up);
}

async fn undecided(store: Store) {
    let (team, saved_monitor) = site(&store).await;
    let mut records: Vec<Record> =
        (1..=5).map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    let started = records[3].heartbeat.at;
    for record in &mut records[3..] {
        record.heartbeat.status = Beat::Down;
        record.state.failing =
            Some(FailureStreak { checks: 1, started, cause: String::new(), reason: None }.into());
    }
    store.record(&records).await.expect("recorded");
    assert_eq!(
        store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats,
        3
    );
    // The third failure makes it an outage, from the first failure on.
    let mut down = passing(saved_monitor.id, 6, Millis(NOW.0 + 360_000));
    down.heartbeat.status = Beat::Down;
    down.state.status = Status::Down;
    down.state.failing =
        Some(FailureStreak { checks: 3, started, cause: String::new(), reason: None }.into());
    down.opens.push(Alert {
        id: AlertId::new(NOW, next()),
        team,
        monitor: saved_monitor.id,
        kind: AlertKind::Outage,
        severity: Default::default(),
        cause: String::new(),
        reason: None,
        started,
        ended: None,
    });
    store.record(&[down]).await.expect("recorded");
    assert_eq!(
        store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats,
        3
    );
    let mut checks: BTreeMap<bool, u64> = BTreeMap::new();
    for day in days(&store, team, saved_monitor.id).await {
        *checks.entry(true).or_default() += day.checks[HistoryStatus::Down];
        *checks.entry(false).or_default() += day.checks[HistoryStatus::Pending];
    }
    assert_eq!(checks, BTreeMap::from([(true, 3), (false, 0)]));
}

async fn joined(store: Store) {
    let (team, saved_monitor) = site(&store).await;
    let mut seq = 0;
    let mut more = async |count: i64| {
        let records: Vec<Record> = (seq + 1..=seq + count)
            .map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000)))
            .collect();
        seq += count;
        store.record(&records).await.expect("recorded");
        store.compact(saved_monitor.id, LATER, FOREVER, 5_000).await.expect("compacted");
        store.history_inventory().await.expect("read").blocks
    };
    // Each hourly compaction writes a block, until there are enough to join.
    for number in 1..=15 {
        assert_eq!(more(60).await, number);
    }
    assert_eq!(more(60).await, 2);
    // Longer blocks are not joined while they have phases, which are deleted by block.
    for number in 3..=17 {
        assert_eq!(more(1_000).await, number);
    }
    let limits =
        RetentionLimits { heartbeats: FOREVER, phases: LATER, hours: FOREVER, days: FOREVER };
    while store.delete_expired(saved_monitor.id, &limits).await.expect("deleted") > 0 {}
    // Nor are they joined when a late heartbeat belongs to one of them.
    let late = passing(saved_monitor.id, 100_000, Millis(NOW.0 + 90_000));
    store.record(&[late]).await.expect("recorded");
    assert_eq!(more(1_000).await, 18);
    for number in 19..=33 {
        assert_eq!(more(60).await, number);
    }
    while store.delete_expired(saved_monitor.id, &limits).await.expect("deleted") > 0 {}
    let before = days(&store, team, saved_monitor.id).await;
    // Two full blocks, one that will be part of a third, and the short ones.
    assert_eq!(more(60).await, 5);
    let inventory = store.history_inventory().await.expect("read");
    assert_eq!((inventory.recent, inventory.compacted), (0, seq + 1));
    let seqs: Vec<i64> =
        read(&store, team, saved_monitor.id).await.iter().map(|(key, _)| key.seq).collect();
    let in_order = (2..=seq).rev().chain([100_000, 1]);
    assert_eq!(seqs, in_order.collect::<Vec<_>>());
    assert!(store.find_damage().await.expect("read").is_empty());
    // Days without new heartbeats have not changed.
    let after = days(&store, team, saved_monitor.id).await;
    assert_eq!(after[..before.len() - 1], before[..before.len() - 1]);
}

async fn paged(store: Store) {
    const BEATS: i64 = 64 * 60;
    let (team, saved_monitor) = site(&store).await;
    let records: Vec<Record> = (1..=BEATS)
        .map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000)))
        .collect();
    store.record(&records).await.expect("recorded");
    let compacting = async {
        while store
            .compact(saved_monitor.id, LATER, FOREVER, 60)
            .await
            .expect("compacted")
            .heartbeats
            > 0
        {}
    };
    let reading = async || {
        loop {
            let span = HeartbeatRange { limit: Some(1_000), ..everything() };
            let mut seqs: Vec<i64> = Vec::new();
            let mut next = Some(span);
            while let Some(span) = next {
                let page = store
                    .team(&whole(team))
                    .heartbeats(saved_monitor.id, &span)
                    .await
                    .expect("read");
                let page = page.expect("there");
                seqs.extend(page.iter().map(|(key, _)| key.seq));
                // Like a client, takes a page that is not full as the last one.
                let last = page.last().filter(|_| page.len() == 1_000);
                next = last.map(|(key, _)| HeartbeatRange { before: Some(*key), ..span });
            }
            assert!(seqs.iter().copied().eq((1..=BEATS).rev()), "{} of {BEATS}", seqs.len());
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = compacting => {}
        _ = async { tokio::join!(reading(), reading(), reading()) } => {}
    }
    assert_eq!(store.history_inventory().await.expect("read").recent, 0);
}

async fn expired(store: Store) {
    let (team, saved_monitor) = site(&store).await;
    let day = |days: i64| Millis(start_of(DAY, NOW).0 + days * 86_400_000);
    // One hour of heartbeats on each of twenty days; a block spans a week.
    for number in 0..20 {
        let records: Vec<Record> = (0..60)
            .map(|minute| {
                passing(
                    saved_monitor.id,
                    number * 60 + minute + 1,
                    Millis(day(number).0 + minute * 60_000),
                )
            })
            .collect();
        store.record(&records).await.expect("recorded");
    }
    while store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats
        > 0
    {}
    let whole = days(&store, team, saved_monitor.id).await;
    assert_eq!(whole.len(), 20);
    let limits =
        RetentionLimits { heartbeats: day(8), phases: day(15), hours: day(5), days: day(3) };
    while store.delete_expired(saved_monitor.id, &limits).await.expect("deleted") > 0 {}
    assert_eq!(days(&store, team, saved_monitor.id).await, whole[3..]);
    let beats = read(&store, team, saved_monitor.id).await;
    let oldest = beats.last().expect("some").0.at;
    assert!(day(0) < oldest && oldest <= day(8), "{oldest}");
    assert_eq!(beats.first().expect("some").0.at, Millis(day(19).0 + 59 * 60_000));
    assert_eq!(beats.last().expect("some").1.phases, Phases::default());
    assert_ne!(beats.first().expect("some").1.phases, Phases::default());
    let inventory = store.history_inventory().await.expect("read");
    assert_eq!((inventory.oldest_hour, inventory.oldest_day), (Some(day(5)), Some(day(3))));
    assert_eq!(store.delete_expired(saved_monitor.id, &limits).await.expect("deleted"), 0);
    // A late heartbeat does not change the roll-up of phases that are deleted.
    let late = passing(saved_monitor.id, 5_000, Millis(day(10).0 + 7_200_000));
    store.record(&[late]).await.expect("recorded");
    store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted");
    let after = days(&store, team, saved_monitor.id).await;
    assert_eq!(after[7].checks[HistoryStatus::Up], 61);
    assert_eq!(after[7].times.phases[1].count, 61);
}

async fn concurrently(store: Store) {
    let (team, saved_monitor) = site(&store).await;
    let records: Vec<Record> =
        (1..=400).map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    store.record(&records).await.expect("recorded");
    let compactions = wakeful_testkit::concurrently(
        (0..6).map(|_| (store.clone(), saved_monitor.id)),
        |(store, id)| async move {
            store.compact(id, LATER, FOREVER, 100).await.expect("compacted").heartbeats
        },
    );
    let compacted: usize = compactions.await.into_iter().sum();
    let inventory = store.history_inventory().await.expect("read");
    assert_eq!((inventory.compacted, inventory.recent), (compacted as i64, 400 - compacted as i64));
    assert_eq!(read(&store, team, saved_monitor.id).await.len(), 400);
    let up: u64 = days(&store, team, saved_monitor.id)
        .await
        .iter()
        .map(|day| day.checks[HistoryStatus::Up])
        .sum();
    assert_eq!(up, compacted as u64);
}

async fn deleted_with_monitor(store: Store) {
    let (team, saved_monitor) = site(&store).await;
    let records: Vec<Record> = (1..=50)
        .map(|seq| passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 3_600_000)))
        .collect();
    store.record(&records).await.expect("recorded");
    store.compact(saved_monitor.id, LATER, FOREVER, 40).await.expect("compacted");
    store
        .team(&whole(team))
        .delete_monitors(&[saved_monitor.id], None, &system())
        .await
        .expect("deleted");
    // A late compaction finds no monitor.
    assert_eq!(
        store.compact(saved_monitor.id, LATER, FOREVER, 40).await.expect("compacted").heartbeats,
        0
    );
    while store.delete_part().await.expect("deleted") {}
    while !store.delete_orphaned_heartbeats(5).await.expect("deleted") {}
    let inventory = store.history_inventory().await.expect("read");
    assert_eq!(
        (inventory.recent, inventory.blocks, inventory.oldest_hour, inventory.oldest_day),
        (0, 0, None, None)
    );
}

#[tokio::test]
async fn the_file_shrinks_after_deletions() {
    let database = Database::new(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let (_, saved_monitor) = site(&store).await;
    let mut rng = Rng(7);
    let records: Vec<Record> = (1..=6_000)
        .map(|seq| record(&mut rng, saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000)))
        .collect();
    store.record(&records).await.expect("recorded");
    let before = database.number("select page_count from pragma_page_count").await;
    while store
        .compact(saved_monitor.id, LATER, FOREVER, 5_000)
        .await
        .expect("compacted")
        .heartbeats
        > 0
    {}
    let empty = store.empty_pages().await.expect("read");
    assert!(empty > before / 4, "{empty} of {before}");
    assert_eq!(store.shrink(u32::MAX >> 1).await.expect("shrinks"), 0);
    let after = database.number("select page_count from pragma_page_count").await;
    assert!(after < before - empty / 2, "{before} before, {after} after");
}

/// Changes two bytes of the block that begins at `from`.
async fn damage(database: &Database, kind: DatabaseKind, from: i64) {
    let damage = match kind {
        DatabaseKind::Sqlite => "cast(substr(data, 1, 9) || x'00ff' || substr(data, 12) as blob)",
        DatabaseKind::Postgres => "set_byte(set_byte(data, 9, 0), 10, 255)",
    };
    database.execute(&format!("update blocks set data = {damage} where from_at = {from}")).await;
}

both_databases! {
    async fn a_damaged_block_stays_when_the_short_blocks_around_it_are_joined(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, saved_monitor) = site(&store).await;
        let hour = |number: i64| number * 60..(number + 1) * 60;
        for number in 0..32 {
            let records: Vec<Record> = hour(number)
                .map(|minute| passing(saved_monitor.id, minute, Millis(NOW.0 + minute * 60_000)))
                .collect();
            store.record(&records).await.expect("recorded");
            store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted");
            if number == 14 {
                damage(&database, setup.database_kind, NOW.0 + hour(5).start * 60_000).await;
            }
        }
        // Two runs were joined around it; the roll-up of the day is complete.
        assert_eq!(store.history_inventory().await.expect("read").blocks, 4);
        assert_eq!(store.find_damage().await.expect("read").len(), 1);
        let read = read(&store, team, saved_monitor.id).await;
        let seqs: Vec<i64> = read.iter().rev().map(|(key, _)| key.seq).collect();
        let others = (0..32 * 60).filter(|minute| !hour(5).contains(minute));
        assert_eq!(seqs, others.collect::<Vec<_>>());
        let days = days(&store, team, saved_monitor.id).await;
        assert_eq!(days.iter().map(|day| day.checks.total()).sum::<u64>(), 32 * 60);
    }

    async fn a_damaged_block_is_reported_and_the_others_are_read(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, saved_monitor) = site(&store).await;
        // Three blocks of a week each; the one in the middle is damaged.
        for week in 0..3 {
            let records: Vec<Record> = (0..30)
                .map(|beat| passing(saved_monitor.id, week * 30 + beat + 1, Millis(NOW.0 + week * 604_800_000 + beat * 3_600_000)))
                .collect();
            store.record(&records).await.expect("recorded");
        }
        while store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted").heartbeats > 0 {}
        let rolled_up = days(&store, team, saved_monitor.id).await;
        let middle = NOW.0 + 604_800_000;
        damage(&database, setup.database_kind, middle).await;
        assert_eq!(read(&store, team, saved_monitor.id).await.len(), 60);
        assert_eq!(days(&store, team, saved_monitor.id).await, rolled_up);
        let damaged = store.find_damage().await.expect("read");
        assert_eq!(damaged.len(), 1);
        assert_eq!((damaged[0].monitor, damaged[0].at.0, damaged[0].what), (saved_monitor.id, middle, "heartbeats"));
        // Late heartbeats of the damaged days are added to the stored roll-ups.
        let late = passing(saved_monitor.id, 1_000, Millis(middle + 30 * 3_600_000));
        store.record(&[late]).await.expect("recorded");
        store.compact(saved_monitor.id, LATER, FOREVER, 500).await.expect("compacted");
        assert_eq!(read(&store, team, saved_monitor.id).await.len(), 61);
        let all = |days: &[Rollup]| days.iter().map(|day| day.checks.total()).sum::<u64>();
        assert_eq!(all(&days(&store, team, saved_monitor.id).await), all(&rolled_up) + 1);
    }
}
