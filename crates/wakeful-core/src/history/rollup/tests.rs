use super::*;
use crate::heartbeat::{Beat, Heartbeat, Phases};
use crate::history::checksum;
use proptest::prelude::*;
use std::time::Duration;

pub(in crate::history) fn entry() -> impl Strategy<Value = Entry> {
    let span = || prop::option::of((0_u64..2_000_000).prop_map(Duration::from_micros));
    let phases = (span(), span(), span(), span(), span());
    (0_i64..90_000_000, 0_u64..6, 1_u32..90_000, span(), phases).prop_map(
        |(at, standing, interval, load_time, (resolve, connect, tls, first_byte, transfer))| {
            let phases = Phases { resolve, connect, tls, first_byte, transfer };
            let (at, message, status) = (Millis(at), String::new(), Beat::Up);
            let heartbeat = Heartbeat {
                at,
                status,
                message,
                load_time,
                phases,
                regions: Vec::new(),
                readings: Default::default(),
            };
            Entry { seq: at.0, standing: HistoryStatus::of(standing), interval, heartbeat }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn roll_ups_round_trip(
        hours in prop::collection::vec(prop::collection::vec(entry(), 1..16), 0..26),
    ) {
        let rollups: Vec<Rollup> = hours
            .into_iter()
            .filter_map(|hour| Rollup::of(&super::super::in_order(hour)))
            .collect();
        let bytes = pack(&rollups, Detail::Full);
        prop_assert_eq!(unpack(&bytes, Detail::Full), Ok(rollups.clone()));
        let means = unpack(&bytes, Detail::Means).unwrap();
        prop_assert_eq!(unpack(&pack(&rollups, Detail::Means), Detail::Full), Ok(means.clone()));
        prop_assert_eq!(means.len(), rollups.len());
        for (mean, whole) in means.iter().zip(&rollups) {
            prop_assert_eq!(&mean.times.load, &whole.times.load);
            for (mean, whole) in mean.times.phases.iter().zip(&whole.times.phases) {
                prop_assert_eq!((mean.count, mean.sum), (whole.count, whole.sum));
            }
        }
    }

    #[test]
    fn extreme_times_round_trip(
        beats in prop::collection::vec((-(1_i64 << 55)..1 << 55, any::<u64>(), any::<u32>()), 1..12),
    ) {
        let rollups: Vec<Rollup> = beats
            .into_iter()
            .filter_map(|(at, took, interval)| {
                let took = Some(Duration::from_micros(took));
                let phases = Phases { tls: took, ..Phases::default() };
                let heartbeat = Heartbeat {
                    at: Millis(at),
                    status: Beat::Up,
                    message: String::new(),
                    load_time: took,
                    phases,
                    regions: Vec::new(),
                    readings: Default::default(),
                };
                Rollup::of([&Entry { seq: 1, standing: HistoryStatus::Up, interval, heartbeat }])
            })
            .collect();
        prop_assert_eq!(unpack(&pack(&rollups, Detail::Full), Detail::Full), Ok(rollups));
    }

    #[test]
    fn a_damaged_roll_up_is_reported(
        hour in prop::collection::vec(entry(), 1..40), at in any::<prop::sample::Index>(), bit in 0_u8..8,
    ) {
        let rollup = Rollup::of(&super::super::in_order(hour)).unwrap();
        let mut bytes = pack(&[rollup], Detail::Full);
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        prop_assert_eq!(unpack(&bytes, Detail::Full), Err(Damaged));
    }
}

#[test]
fn roll_ups_of_another_version_are_not_read() {
    let mut bytes = pack(&[], Detail::Full);
    bytes.truncate(bytes.len() - 4);
    assert_eq!(unpack(&checksum::close(bytes.clone()), Detail::Full), Ok(Vec::new()));
    bytes[0] = 3;
    assert_eq!(unpack(&checksum::close(bytes), Detail::Full), Err(Damaged));
}

#[test]
fn a_degraded_check_raises_the_version_and_its_load_time_counts() {
    let entries = crate::history::block_codec::tests::realistic(60);
    let mut degraded = entries.clone();
    degraded[30].standing = HistoryStatus::Degraded;
    let [plain, degraded] = [entries, degraded].map(|entries| Rollup::of(&entries).unwrap());
    assert_eq!((plain.times.clone(), plain.checks.up()), (degraded.times.clone(), 56));
    assert_eq!(degraded.checks.up(), 56);
    assert_eq!(degraded.checks.uptime(), plain.checks.uptime());
    assert_eq!(plain.checks.healthy(), plain.checks.uptime());
    assert_eq!(degraded.checks.healthy(), Some(55.0 * 100.0 / 60.0));
    for (rollup, version) in [(plain, 1), (degraded, 2)] {
        let bytes = pack(std::slice::from_ref(&rollup), Detail::Full);
        assert_eq!(bytes[0], version);
        assert_eq!(unpack(&bytes, Detail::Full), Ok(vec![rollup]));
    }
}

#[test]
fn only_checks_that_were_up_have_load_times() {
    let mut entry = Entry::of(
        1,
        Heartbeat {
            at: Millis(0),
            status: Beat::Down,
            message: String::new(),
            load_time: Some(Duration::from_millis(5)),
            phases: Phases::default(),
            regions: Vec::new(),
            readings: Default::default(),
        },
        60,
        &[],
        &crate::history::Exclusions::default(),
    );
    assert_eq!(Rollup::of([&entry]).unwrap().times, LoadTimes::default());
    entry.standing = HistoryStatus::Up;
    let times = Rollup::of([&entry]).unwrap().times;
    assert_eq!((times.shortest, times.longest, times.load.sum), (5_000, 5_000, 5_000));
    assert_eq!(times.percentile(0.99), Some(5_000.0));
}
