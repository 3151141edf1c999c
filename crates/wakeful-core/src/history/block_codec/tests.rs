use super::*;
use crate::heartbeat::RegionBeat;
use crate::history::in_order;
use crate::history::rollup::{self, Detail, Rollup};
use crate::region::Region;
use proptest::prelude::*;

fn span() -> impl Strategy<Value = Option<Duration>> {
    let usual = (0_u64..3_000_000).prop_map(Duration::from_micros);
    let coarse = (0_u64..3_000).prop_map(|tenths| Duration::from_micros(tenths * 100));
    let any = any::<u64>().prop_map(Duration::from_micros);
    prop::option::of(prop_oneof![4 => usual, 2 => coarse, 1 => any])
}

fn beat() -> impl Strategy<Value = Heartbeat> {
    let at = prop_oneof![3 => 0_i64..100_000_000, 1 => any::<i64>()].prop_map(Millis);
    let status = prop::sample::select(Beat::ALL.to_vec());
    let message = prop_oneof![Just("200 OK".to_owned()), Just(String::new()), ".{0,30}"];
    let phases = (span(), span(), span(), span(), span());
    let regions = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(region(), 0..4)];
    let reading = || prop::option::of(prop_oneof![3 => 0_i64..200_000, 1 => any::<i64>()]);
    let readings = prop_oneof![3 => Just(Readings::default()), 1 => (reading(), reading())
        .prop_map(|(one, two)| Readings([one, two]))];
    let all = (at, status, message, span(), phases, regions, readings);
    all.prop_map(|(at, status, message, load_time, phases, regions, readings)| {
        let (resolve, connect, tls, first_byte, transfer) = phases;
        let phases = Phases { resolve, connect, tls, first_byte, transfer };
        Heartbeat { at, status, message, load_time, phases, regions, readings }
    })
}

fn region() -> impl Strategy<Value = RegionBeat> {
    let status = prop::sample::select(Beat::ALL.to_vec());
    let message = prop_oneof![3 => Just(String::new()), 1 => ".{0,30}"];
    ("[a-z]{1,5}", status, span(), message).prop_map(|(name, status, load_time, message)| {
        let region = Region::parse(&name).expect("a region");
        RegionBeat { region, status, load_time, message }
    })
}

pub(in crate::history) fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = (any::<i64>(), 0_u64..6, any::<u32>(), beat()).prop_map(
        |(seq, standing, interval, heartbeat)| Entry {
            seq,
            standing: HistoryStatus::of(standing),
            interval,
            heartbeat,
        },
    );
    prop::collection::vec(entry, 0..60).prop_map(in_order)
}

fn unpacked(packed: &PackedBlock) -> Result<Vec<Entry>, Damaged> {
    let mut entries = unpack(&packed.data)?;
    unpack_phases(&packed.phases, &mut entries)?;
    unpack_regions(&packed.regions, &mut entries)?;
    unpack_readings(&packed.readings, &mut entries)?;
    Ok(entries)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_heartbeats_are_read_exactly_as_they_were_written(entries in entries()) {
        prop_assert_eq!(unpacked(&pack(&entries)), Ok(entries));
    }

    #[test]
    fn a_damaged_block_is_reported(
        entries in entries(), at in any::<prop::sample::Index>(), bit in 0_u8..8, cut in any::<bool>(),
    ) {
        let mut packed = pack(&entries);
        let hurt = if packed.phases.is_empty() { &mut packed.data } else { &mut packed.phases };
        let at = at.index(hurt.len());
        if cut { hurt.truncate(at) } else { hurt[at] ^= 1_u8 << bit }
        prop_assume!(!packed.phases.is_empty() || !entries.iter().any(|entry| entry.heartbeat.phases != Phases::default()));
        prop_assert_eq!(unpacked(&packed), Err(Damaged));
    }
}

#[test]
fn a_block_of_another_version_is_not_read() {
    let mut bytes = pack(&[]).data;
    bytes.truncate(bytes.len() - 4);
    bytes[0] = VERSION + 1;
    assert_eq!(unpack(&checksum::close(bytes)), Err(Damaged));
}

/// Realistic checks: every minute, a little late, log-normal phases in tenths
/// of a millisecond, and an occasional outage.
pub(in crate::history) fn realistic(count: usize) -> Vec<Entry> {
    let mut dice = 0x9E37_79B9_7F4A_7C15_u64;
    let mut roll = move || {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        ((dice >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let mut spread = move |median: f64, sigma: f64| {
        let normal = (-2.0 * roll().ln()).sqrt() * (std::f64::consts::TAU * roll()).cos();
        Duration::from_micros(((median * (sigma * normal).exp() * 10.0) as u64) * 100)
    };
    let mut entries = Vec::new();
    for number in 0..count as i64 {
        let down = number % 3_000 < 4;
        let (resolve, connect, tls) = (spread(3.0, 0.3), spread(14.0, 0.2), spread(22.0, 0.2));
        let (first_byte, transfer) = (spread(80.0, 0.35), spread(6.0, 0.4));
        let load = resolve + connect + tls + first_byte + transfer + spread(0.3, 0.2);
        let late = spread(1.5, 0.8);
        let at = Millis(1_790_000_000_000 + number * 60_000).after(load + late);
        let heartbeat = Heartbeat {
            at,
            status: if down { Beat::Down } else { Beat::Up },
            message: if down { "connection refused" } else { "200 OK" }.to_owned(),
            regions: Vec::new(),
            readings: Readings::default(),
            load_time: (!down).then_some(load),
            phases: if down {
                Phases { resolve: Some(resolve), ..Phases::default() }
            } else {
                Phases {
                    resolve: Some(resolve),
                    connect: Some(connect),
                    tls: Some(tls),
                    first_byte: Some(first_byte),
                    transfer: Some(transfer),
                }
            },
        };
        let standing = if down { HistoryStatus::Down } else { HistoryStatus::Up };
        entries.push(Entry { seq: number + 1, standing, interval: 60, heartbeat });
    }
    entries
}

#[test]
fn a_realistic_month_takes_few_bytes_per_heartbeat() {
    let entries = realistic(BLOCK_CAPACITY);
    let packed = pack(&entries);
    assert_eq!(unpacked(&packed), Ok(entries.clone()));
    let each = |bytes: usize| (bytes as f64) / (entries.len() as f64);
    let hours: Vec<Rollup> = entries.chunks(60).filter_map(Rollup::of).collect();
    let hours: usize = hours.chunks(24).map(|day| rollup::pack(day, Detail::Means).len()).sum();
    let days = entries.chunks(1_440).filter_map(Rollup::of);
    let days: usize = days.map(|day| rollup::pack(&[day], Detail::Full).len()).sum();
    let (data, phases, hours, days) =
        (each(packed.data.len()), each(packed.phases.len()), each(hours), each(days));
    let input = format!("data {data:.2} phases {phases:.2} hours {hours:.2} days {days:.2}");
    assert!(data < 1.8 && phases < 3.7 && hours < 0.55 && days < 0.3, "{input}");
}

/// Databases have these bytes: whatever is added, blocks and roll-ups without it stay as they are.
#[test]
fn history_without_degraded_heartbeats_has_the_same_bytes_as_ever() {
    let entries = realistic(BLOCK_CAPACITY);
    let PackedBlock { data, phases, regions, readings } = pack(&entries);
    assert!(regions.is_empty() && readings.is_empty());
    let hours: Vec<Rollup> = entries.chunks(60).filter_map(Rollup::of).collect();
    let rollups = [rollup::pack(&hours, Detail::Means), rollup::pack(&hours, Detail::Full)];
    // The last four bytes of each are the checksum of the others.
    let sums = [data, phases].into_iter().chain(rollups).map(|bytes| {
        let end = bytes.last_chunk::<4>().copied().unwrap_or_default();
        format!("{} {:08x}", bytes.len(), u32::from_le_bytes(end))
    });
    let pinned = ["13390 ce532bd5", "28647 ead587c5", "3756 18904d0b", "15896 33db1751"];
    assert_eq!(sums.collect::<Vec<_>>(), pinned);
}
