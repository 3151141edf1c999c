//! Folding and letting go: whatever comes in whatever order, every heartbeat is
//! there once, and days come to what a plain model says.

use std::collections::BTreeMap;
use std::time::Duration;
use wakeful_core::alert::{Alert, AlertKind};
use wakeful_core::history::rollup::{Depth, Rollup};
use wakeful_core::history::sketch::Sketch;
use wakeful_core::history::{DAY, Entry, HOUR, Outage, Standing, start_of};
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::monitor::Monitor;
use wakeful_core::observation::Phases;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Beat, Failing, Status};
use wakeful_store::{Limits, Place, Record, Span, Store};
use wakeful_testkit::{Database, Engine, both_engines};

use crate::bench::{NOW, monitor, next, passing, team};
use crate::heartbeats::everything;
use crate::on_both;

on_both! {
    whatever_comes_in_whatever_order_days_come_to_what_a_model_says => out_of_order;
    what_comes_in_order_is_added_to_its_days_as_a_model_says => in_order;
    a_heartbeat_that_is_recorded_again_after_folding_counts_once => replayed;
    failures_that_may_become_an_outage_wait_to_be_folded => undecided;
    small_blocks_become_full_ones => joined;
    pages_are_full_while_heartbeats_are_folded_and_blocks_joined => paged;
    what_is_old_enough_is_let_go_and_days_stay => let_go;
    two_that_fold_at_once_fold_once => together;
    the_past_goes_with_its_monitor => buried;
}

const FOREVER: Millis = Millis(i64::MIN);
const LATER: Millis = Millis(i64::MAX - 1);

async fn site(store: &Store) -> (TeamId, Monitor) {
    let team = team(store).await;
    let kept = monitor(team, "site");
    store.team(team).add_monitor(&kept).await.expect("kept");
    (team, kept)
}

/// A dice that falls the same way for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn record(dice: &mut Dice, monitor: MonitorId, seq: i64, at: Millis) -> Record {
    let mut record = passing(monitor, seq, at);
    let span = |dice: &mut Dice| Some(Duration::from_micros(dice.below(900_000)));
    record.heartbeat.load_time = span(dice);
    record.heartbeat.phases =
        Phases { tls: span(dice), first_byte: span(dice), ..Phases::default() };
    match dice.below(10) {
        0 => {
            record.heartbeat.status = Beat::Down;
            record.heartbeat.message = format!("50{} trouble", dice.below(4));
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
) -> Vec<(Place, wakeful_core::verdict::Heartbeat)> {
    store.team(team).heartbeats(monitor, &everything()).await.expect("read").expect("there")
}

async fn days(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(team);
    let past = team.past(monitor).await.expect("read").expect("there");
    past.days(FOREVER, LATER, Depth::Whole).await.expect("read")
}

async fn hours(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(team);
    let past = team.past(monitor).await.expect("read").expect("there");
    past.hours(FOREVER, LATER).await.expect("read")
}

/// What spans of heartbeats come to.
fn rolled(entries: &[Entry], grain: Duration) -> Vec<Rollup> {
    let begin = |entry: &Entry| start_of(grain, entry.heartbeat.at);
    entries.chunk_by(|one, two| begin(one) == begin(two)).filter_map(Rollup::of).collect()
}

async fn out_of_order(store: Store) {
    like_a_model(store, 8).await;
}

async fn in_order(store: Store) {
    like_a_model(store, u64::MAX).await;
}

/// One of `late` heartbeats comes late.
async fn like_a_model(store: Store, late: u64) {
    let (team, kept) = site(&store).await;
    let outage =
        Outage { started: Millis(NOW.0 + 30_000_000), ended: Some(Millis(NOW.0 + 50_000_000)) };
    let mut opening = passing(kept.id, 0, NOW);
    opening.opens.push(Alert {
        id: AlertId::new(NOW, next()),
        team,
        monitor: kept.id,
        kind: AlertKind::Outage,
        cause: String::new(),
        started: outage.started,
        ended: outage.ended,
    });
    store.record(&[opening.clone()]).await.expect("recorded");
    let mut model = BTreeMap::from([((NOW, 0), opening.heartbeat.clone())]);
    let (mut dice, mut seq) = (Dice(0x5EED), 0);
    for round in 0..12 {
        // Most come in order, some late, some twice, some in one millisecond.
        let mut records = Vec::new();
        for _ in 0..120 {
            seq += 1;
            let late = if dice.below(late) == 0 { dice.below(90_000_000) as i64 } else { 0 };
            let at = Millis(NOW.0 + seq / 2 * 120_000 - late.min(seq * 60_000));
            let record = record(&mut dice, kept.id, seq, at);
            model.insert((at, seq), record.heartbeat.clone());
            if dice.below(20) == 0 {
                records.push(record.clone());
            }
            records.push(record);
        }
        store.record(&records).await.expect("recorded");
        let until = Millis(NOW.0 + seq * 60_000 - dice.below(20_000_000) as i64);
        let most = 1 + dice.below(300) as u32;
        store.fold(kept.id, until, FOREVER, most).await.expect("folded");
        let expected: Vec<_> = model
            .iter()
            .rev()
            .map(|((at, seq), beat)| (Place { at: *at, seq: *seq }, beat.clone()))
            .collect();
        assert_eq!(read(&store, team, kept.id).await, expected, "round {round}");
    }
    while store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats > 0 {}
    let entries: Vec<Entry> =
        model.into_iter().map(|((_, seq), beat)| Entry::of(seq, beat, 60, &[outage])).collect();
    assert!(entries.iter().any(|entry| entry.standing == Standing::Down));
    assert!(entries.iter().any(|entry| entry.standing == Standing::Pending));
    assert_eq!(days(&store, team, kept.id).await, rolled(&entries, DAY));
    let mut expected = rolled(&entries, HOUR);
    for hour in &mut expected {
        // Hours know the means of phases alone.
        hour.times.phases.iter_mut().for_each(|phase| phase.sketch = Sketch::default());
    }
    assert_eq!(hours(&store, team, kept.id).await, expected);
}

async fn replayed(store: Store) {
    let (team, kept) = site(&store).await;
    let records: Vec<Record> =
        (1..=50).map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    store.record(&records).await.expect("recorded");
    let before = (read(&store, team, kept.id).await, 50);
    assert_eq!(store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats, 50);
    let come_to = days(&store, team, kept.id).await;
    store.record(&records[10..20]).await.expect("recorded again");
    assert_eq!(read(&store, team, kept.id).await, before.0);
    assert_eq!(store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats, 10);
    assert_eq!(read(&store, team, kept.id).await.len(), before.1);
    assert_eq!(days(&store, team, kept.id).await, come_to);
}

async fn undecided(store: Store) {
    let (team, kept) = site(&store).await;
    let mut records: Vec<Record> =
        (1..=5).map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    let started = records[3].heartbeat.at;
    for record in &mut records[3..] {
        record.heartbeat.status = Beat::Down;
        record.state.failing = Some(Failing { checks: 1, started, cause: String::new() });
    }
    store.record(&records).await.expect("recorded");
    assert_eq!(store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats, 3);
    // The third failure makes it an outage, from the first failure on.
    let mut down = passing(kept.id, 6, Millis(NOW.0 + 360_000));
    down.heartbeat.status = Beat::Down;
    down.state.status = Status::Down;
    down.state.failing = Some(Failing { checks: 3, started, cause: String::new() });
    down.opens.push(Alert {
        id: AlertId::new(NOW, next()),
        team,
        monitor: kept.id,
        kind: AlertKind::Outage,
        cause: String::new(),
        started,
        ended: None,
    });
    store.record(&[down]).await.expect("recorded");
    assert_eq!(store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats, 3);
    let mut checks: BTreeMap<bool, u64> = BTreeMap::new();
    for day in days(&store, team, kept.id).await {
        *checks.entry(true).or_default() += day.checks[Standing::Down];
        *checks.entry(false).or_default() += day.checks[Standing::Pending];
    }
    assert_eq!(checks, BTreeMap::from([(true, 3), (false, 0)]));
}

async fn joined(store: Store) {
    let (team, kept) = site(&store).await;
    let mut seq = 0;
    let mut more = async |count: i64| {
        let records: Vec<Record> = (seq + 1..=seq + count)
            .map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq * 60_000)))
            .collect();
        seq += count;
        store.record(&records).await.expect("recorded");
        store.fold(kept.id, LATER, FOREVER, 5_000).await.expect("folded");
        store.holdings().await.expect("read").blocks
    };
    // What is folded every hour is a block, until there are enough of them.
    for number in 1..=15 {
        assert_eq!(more(60).await, number);
    }
    assert_eq!(more(60).await, 2);
    // Longer ones stay apart while their phases are kept, which go with a block.
    for number in 3..=17 {
        assert_eq!(more(1_000).await, number);
    }
    let limits = Limits { heartbeats: FOREVER, phases: LATER, hours: FOREVER, days: FOREVER };
    while store.let_go(kept.id, &limits).await.expect("let go") > 0 {}
    // Nor are they joined together with one that comes late to one of them.
    let late = passing(kept.id, 100_000, Millis(NOW.0 + 90_000));
    store.record(&[late]).await.expect("recorded");
    assert_eq!(more(1_000).await, 18);
    for number in 19..=33 {
        assert_eq!(more(60).await, number);
    }
    while store.let_go(kept.id, &limits).await.expect("let go") > 0 {}
    let before = days(&store, team, kept.id).await;
    // Two full ones, one that will be part of a third, and fifteen short ones.
    assert_eq!(more(60).await, 5);
    let held = store.holdings().await.expect("read");
    assert_eq!((held.fresh, held.packed), (0, seq + 1));
    let seqs: Vec<i64> =
        read(&store, team, kept.id).await.iter().map(|(place, _)| place.seq).collect();
    let in_order = (2..=seq).rev().chain([100_000, 1]);
    assert_eq!(seqs, in_order.collect::<Vec<_>>());
    assert!(store.harm().await.expect("read").is_empty());
    // Days that nothing came to are as they were.
    let after = days(&store, team, kept.id).await;
    assert_eq!(after[..before.len() - 1], before[..before.len() - 1]);
}

async fn paged(store: Store) {
    const BEATS: i64 = 64 * 60;
    let (team, kept) = site(&store).await;
    let records: Vec<Record> =
        (1..=BEATS).map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    store.record(&records).await.expect("recorded");
    let folding = async {
        while store.fold(kept.id, LATER, FOREVER, 60).await.expect("folded").heartbeats > 0 {}
    };
    let reading = async || {
        loop {
            let span = Span { limit: Some(1_000), ..everything() };
            let mut seqs: Vec<i64> = Vec::new();
            let mut next = Some(span);
            while let Some(span) = next {
                let page = store.team(team).heartbeats(kept.id, &span).await.expect("read");
                let page = page.expect("there");
                seqs.extend(page.iter().map(|(place, _)| place.seq));
                // As a client does: a page that is not full is the last one.
                let last = page.last().filter(|_| page.len() == 1_000);
                next = last.map(|(place, _)| Span { before: Some(*place), ..span });
            }
            assert!(seqs.iter().copied().eq((1..=BEATS).rev()), "{} of {BEATS}", seqs.len());
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = folding => {}
        _ = async { tokio::join!(reading(), reading(), reading()) } => {}
    }
    assert_eq!(store.holdings().await.expect("read").fresh, 0);
}

async fn let_go(store: Store) {
    let (team, kept) = site(&store).await;
    let day = |days: i64| Millis(start_of(DAY, NOW).0 + days * 86_400_000);
    // An hour's heartbeats of each of twenty days; a block spans a week.
    for number in 0..20 {
        let records: Vec<Record> = (0..60)
            .map(|minute| {
                passing(kept.id, number * 60 + minute + 1, Millis(day(number).0 + minute * 60_000))
            })
            .collect();
        store.record(&records).await.expect("recorded");
    }
    while store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats > 0 {}
    let whole = days(&store, team, kept.id).await;
    assert_eq!(whole.len(), 20);
    let limits = Limits { heartbeats: day(8), phases: day(15), hours: day(5), days: day(3) };
    while store.let_go(kept.id, &limits).await.expect("let go") > 0 {}
    assert_eq!(days(&store, team, kept.id).await, whole[3..]);
    let beats = read(&store, team, kept.id).await;
    let oldest = beats.last().expect("some").0.at;
    assert!(day(0) < oldest && oldest <= day(8), "{oldest}");
    assert_eq!(beats.first().expect("some").0.at, Millis(day(19).0 + 59 * 60_000));
    assert_eq!(beats.last().expect("some").1.phases, Phases::default());
    assert_ne!(beats.first().expect("some").1.phases, Phases::default());
    let held = store.holdings().await.expect("read");
    assert_eq!((held.oldest_hour, held.oldest_day), (Some(day(5)), Some(day(3))));
    assert_eq!(store.let_go(kept.id, &limits).await.expect("let go"), 0);
    // One that comes late to a day whose phases are gone loses nothing of them.
    let late = passing(kept.id, 5_000, Millis(day(10).0 + 7_200_000));
    store.record(&[late]).await.expect("recorded");
    store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded");
    let after = days(&store, team, kept.id).await;
    assert_eq!(after[7].checks[Standing::Up], 61);
    assert_eq!(after[7].times.phases[1].count, 61);
}

async fn together(store: Store) {
    let (team, kept) = site(&store).await;
    let records: Vec<Record> =
        (1..=400).map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq * 60_000))).collect();
    store.record(&records).await.expect("recorded");
    let folds = wakeful_testkit::together(
        (0..6).map(|_| (store.clone(), kept.id)),
        |(store, id)| async move {
            store.fold(id, LATER, FOREVER, 100).await.expect("folded").heartbeats
        },
    );
    let folded: usize = folds.await.into_iter().sum();
    let held = store.holdings().await.expect("read");
    assert_eq!((held.packed, held.fresh), (folded as i64, 400 - folded as i64));
    assert_eq!(read(&store, team, kept.id).await.len(), 400);
    let up: u64 =
        days(&store, team, kept.id).await.iter().map(|day| day.checks[Standing::Up]).sum();
    assert_eq!(up, folded as u64);
}

async fn buried(store: Store) {
    let (team, kept) = site(&store).await;
    let records: Vec<Record> =
        (1..=50).map(|seq| passing(kept.id, seq, Millis(NOW.0 + seq * 3_600_000))).collect();
    store.record(&records).await.expect("recorded");
    store.fold(kept.id, LATER, FOREVER, 40).await.expect("folded");
    store.team(team).delete_monitor(kept.id).await.expect("deleted");
    // Whoever is late to fold finds no monitor.
    assert_eq!(store.fold(kept.id, LATER, FOREVER, 40).await.expect("folded").heartbeats, 0);
    while !store.sweep_graves(5).await.expect("swept") {}
    let held = store.holdings().await.expect("read");
    assert_eq!((held.fresh, held.blocks, held.oldest_hour, held.oldest_day), (0, 0, None, None));
}

#[tokio::test]
async fn the_file_gives_back_what_was_let_go() {
    let database = Database::new(Engine::Sqlite).await;
    let store = database.open().await;
    let (_, kept) = site(&store).await;
    let mut dice = Dice(7);
    let records: Vec<Record> = (1..=3_000)
        .map(|seq| record(&mut dice, kept.id, seq, Millis(NOW.0 + seq * 60_000)))
        .collect();
    store.record(&records).await.expect("recorded");
    let before = database.number("select page_count from pragma_page_count").await;
    while store.fold(kept.id, LATER, FOREVER, 5_000).await.expect("folded").heartbeats > 0 {}
    let empty = store.empty_pages().await.expect("read");
    assert!(empty > before / 4, "{empty} of {before}");
    assert_eq!(store.shrink(u32::MAX >> 1).await.expect("shrinks"), 0);
    let after = database.number("select page_count from pragma_page_count").await;
    assert!(after < before - empty / 2, "{before} before, {after} after");
}

/// Changes two bytes of the block that begins at a time.
async fn hurt(database: &Database, engine: Engine, from: i64) {
    let hurt = match engine {
        Engine::Sqlite => "cast(substr(data, 1, 9) || x'00ff' || substr(data, 12) as blob)",
        Engine::Postgres => "set_byte(set_byte(data, 9, 0), 10, 255)",
    };
    database.execute(&format!("update blocks set data = {hurt} where from_at = {from}")).await;
}

both_engines! {
    async fn a_damaged_block_among_short_ones_stays_when_they_become_one(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, kept) = site(&store).await;
        let hour = |number: i64| number * 60..(number + 1) * 60;
        for number in 0..32 {
            let records: Vec<Record> = hour(number)
                .map(|minute| passing(kept.id, minute, Millis(NOW.0 + minute * 60_000)))
                .collect();
            store.record(&records).await.expect("recorded");
            store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded");
            if number == 14 {
                hurt(&database, setup.engine, NOW.0 + hour(5).start * 60_000).await;
            }
        }
        // Twice a row was put together around it; what the day came to is known.
        assert_eq!(store.holdings().await.expect("read").blocks, 4);
        assert_eq!(store.harm().await.expect("read").len(), 1);
        let read = read(&store, team, kept.id).await;
        let seqs: Vec<i64> = read.iter().rev().map(|(place, _)| place.seq).collect();
        let others = (0..32 * 60).filter(|minute| !hour(5).contains(minute));
        assert_eq!(seqs, others.collect::<Vec<_>>());
        let days = days(&store, team, kept.id).await;
        assert_eq!(days.iter().map(|day| day.checks.total()).sum::<u64>(), 32 * 60);
    }

    async fn a_damaged_block_is_told_and_costs_no_other(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, kept) = site(&store).await;
        // Three blocks of a week each; the one in the middle is hurt.
        for week in 0..3 {
            let records: Vec<Record> = (0..30)
                .map(|beat| passing(kept.id, week * 30 + beat + 1, Millis(NOW.0 + week * 604_800_000 + beat * 3_600_000)))
                .collect();
            store.record(&records).await.expect("recorded");
        }
        while store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded").heartbeats > 0 {}
        let come_to = days(&store, team, kept.id).await;
        let middle = NOW.0 + 604_800_000;
        hurt(&database, setup.engine, middle).await;
        assert_eq!(read(&store, team, kept.id).await.len(), 60);
        assert_eq!(days(&store, team, kept.id).await, come_to);
        let harm = store.harm().await.expect("read");
        assert_eq!(harm.len(), 1);
        assert_eq!((harm[0].monitor, harm[0].at.0, harm[0].what), (kept.id, middle, "heartbeats"));
        // What comes to the hurt days is counted beside what they came to.
        let late = passing(kept.id, 1_000, Millis(middle + 30 * 3_600_000));
        store.record(&[late]).await.expect("recorded");
        store.fold(kept.id, LATER, FOREVER, 500).await.expect("folded");
        assert_eq!(read(&store, team, kept.id).await.len(), 61);
        let all = |days: &[Rollup]| days.iter().map(|day| day.checks.total()).sum::<u64>();
        assert_eq!(all(&days(&store, team, kept.id).await), all(&come_to) + 1);
    }
}
