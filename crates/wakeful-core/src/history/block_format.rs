//! Verifies that docs/block-format.md is sufficient to read all history without
//! this code: `scripts/decode-block.py`, written from that page, decodes the
//! codec's output, and the test vectors on the page match the codec.

mod vectors;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::block_codec::{PackedBlock, pack};
use super::rollup::{self, Detail, Distribution, Rollup};
use super::{Entry, HistoryStatus, PerStatus, in_order, micros, phase_durations};
use vectors::{Content, Vector};

const PHASES: [&str; 5] = ["resolve", "connect", "tls", "first_byte", "transfer"];

/// The rest of the document after this mark is written by
/// `the_document_has_these_vectors`.
const MARK: &str = "raise the version instead. -->\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the script; returns its output and whether no row was damaged.
fn run(arguments: &[&str], input: &str) -> (String, bool) {
    let script = repository().join("scripts/decode-block.py");
    python(&[&[script.to_str().unwrap()], arguments].concat(), input)
}

fn python(arguments: &[&str], input: &str) -> (String, bool) {
    let mut child = Command::new("python3")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tests require python3");
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {}", output.status);
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

/// The decoded value of each row.
fn decoded(rows: &[String]) -> Vec<Value> {
    let (output, is_whole) = run(&["hex"], &rows.join("\n"));
    assert!(is_whole);
    values(&output)
}

fn values(output: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(output).into_iter().map(Result::unwrap).collect()
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { data_encoding::HEXLOWER.encode(bytes) }
}

fn block_row(PackedBlock { data, phases, regions, readings }: &PackedBlock) -> String {
    let row = format!("block {} {} {}", hex(data), hex(phases), hex(regions));
    if readings.is_empty() { row } else { format!("{row} {}", hex(readings)) }
}

fn rollup_row(rollups: &[Rollup], depth: Detail) -> String {
    format!("rollup {}", hex(&rollup::pack(rollups, depth)))
}

fn word(standing: HistoryStatus) -> &'static str {
    match standing {
        HistoryStatus::Up => "up",
        HistoryStatus::Down => "down",
        HistoryStatus::Pending => "pending",
        HistoryStatus::Unknown => "unknown",
        HistoryStatus::Maintenance => "maintenance",
        HistoryStatus::Degraded => "degraded",
    }
}

fn shown_entry(entry: &Entry) -> Value {
    let beat = &entry.heartbeat;
    let phases = PHASES.iter().zip(phase_durations(&beat.phases));
    let phases: Map<String, Value> = phases
        .filter_map(|(name, span)| Some(((*name).to_owned(), micros(span?).into())))
        .collect();
    let regions = beat.regions.iter().map(|one| {
        json!({
            "region": one.region.as_str(),
            "status": one.status.as_str(),
            "load_time": one.load_time.map(micros),
            "message": one.message,
        })
    });
    let mut shown = json!({
        "at": beat.at.0,
        "seq": entry.seq,
        "counts_as": word(entry.standing),
        "status": beat.status.as_str(),
        "interval": entry.interval,
        "message": beat.message,
        "load_time": beat.load_time.map(micros),
        "phases": phases,
        "regions": regions.collect::<Vec<Value>>(),
    });
    if !beat.readings.is_empty() {
        shown["readings"] = json!(beat.readings);
    }
    shown
}

fn shown_shares(shares: &PerStatus) -> Value {
    let is_shown = |one: &HistoryStatus| *one != HistoryStatus::Degraded || shares[*one] > 0;
    let shown = HistoryStatus::ALL.into_iter().filter(is_shown);
    shown.map(|one| (word(one), shares[one])).collect()
}

fn shown_spread(spread: &Distribution) -> Map<String, Value> {
    let sketch = json!({ "low": spread.sketch.low, "counts": spread.sketch.counts });
    let fields = [("count", spread.count.into()), ("sum", spread.sum.into()), ("sketch", sketch)];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

fn shown_rollup(rollup: &Rollup) -> Value {
    let Rollup { first, last, checks, millis, times } = rollup;
    let mut load_time = shown_spread(&times.load);
    load_time.insert("min".into(), times.shortest.into());
    load_time.insert("max".into(), times.longest.into());
    let percentile = |(name, share): (&'static str, f64)| Some((name, times.percentile(share)?));
    let shares = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];
    let percentiles: Value = shares.into_iter().filter_map(percentile).collect();
    load_time.insert("percentiles".into(), percentiles);
    let phases = PHASES.iter().zip(&times.phases);
    json!({
        "first": first.0,
        "last": { "at": last.at.0, "counts_as": word(last.standing), "valid_until": last.valid_until.0 },
        "checks": shown_shares(checks),
        "millis": shown_shares(millis),
        "load_time": load_time,
        "phases": phases
            .map(|(name, phase)| ((*name).to_owned(), shown_spread(phase).into()))
            .collect::<Map<String, Value>>(),
    })
}

/// Hours as they are decoded: without the sketches of their phases.
fn means(rollups: &[Rollup]) -> Vec<Rollup> {
    rollup::unpack(&rollup::pack(rollups, Detail::Means), Detail::Full).unwrap()
}

/// Equal, except for the last digit of fractions, which depends on the parser.
fn is_same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, value)| two.get(key).is_some_and(|it| is_same(value, it)))
        }
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| is_same(one, two))
        }
        (Value::Number(one), Value::Number(two)) if one.is_f64() && two.is_f64() => {
            let (one, two) = (one.as_f64().unwrap(), two.as_f64().unwrap());
            (one - two).abs() <= one.abs() * 1e-14
        }
        _ => one == two,
    }
}

#[track_caller]
fn assert_same(decoded: &[Value], expected: &[Value], rows: &[String]) {
    assert_eq!(decoded.len(), expected.len());
    for ((decoded, expected), row) in decoded.iter().zip(expected).zip(rows) {
        assert!(is_same(decoded, expected), "{row}\ngives\n{decoded}\nand not\n{expected}");
    }
}

/// Python is slow: `WAKEFUL_TEST_LONG=1` runs ten times as many samples.
fn thoroughness() -> usize {
    if std::env::var_os("WAKEFUL_TEST_LONG").is_some() { 10 } else { 1 }
}

/// Values of a strategy, the same in every run.
fn samples<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_script_decodes_any_block() {
    let mut blocks = samples(&super::block_codec::tests::entries(), 30 * thoroughness());
    blocks.push(super::block_codec::tests::realistic(200 * thoroughness()));
    let rows: Vec<String> = blocks.iter().map(|entries| block_row(&pack(entries))).collect();
    let expected: Vec<Value> =
        blocks.iter().map(|entries| entries.iter().map(shown_entry).collect()).collect();
    assert_same(&decoded(&rows), &expected, &rows);
}

#[test]
fn the_script_decodes_any_roll_ups() {
    let hour = proptest::collection::vec(super::rollup::tests::entry(), 1..40);
    let lists = samples(&proptest::collection::vec(hour, 0..26), 6 * thoroughness());
    let mut lists: Vec<Vec<Rollup>> = lists
        .into_iter()
        .map(|hours| hours.into_iter().filter_map(|hour| Rollup::of(&in_order(hour))).collect())
        .collect();
    // Extreme times, load times and intervals, one heartbeat each.
    let far = samples(&super::block_codec::tests::entries(), 8 * thoroughness()).into_iter();
    lists.extend(far.map(|entries| {
        let near = |entry: &&Entry| entry.heartbeat.at.0.unsigned_abs() < 1 << 60;
        entries.iter().filter(near).filter_map(|entry| Rollup::of([entry])).collect()
    }));
    let real = super::block_codec::tests::realistic(1_500);
    lists.push(real.chunks(60).filter_map(Rollup::of).collect());
    lists.push(real.chunks(500).filter_map(Rollup::of).collect());
    let (mut rows, mut expected) = (Vec::new(), Vec::new());
    for list in &lists {
        rows.push(rollup_row(list, Detail::Full));
        expected.push(list.iter().map(shown_rollup).collect());
        rows.push(rollup_row(list, Detail::Means));
        expected.push(means(list).iter().map(shown_rollup).collect());
    }
    assert_same(&decoded(&rows), &expected, &rows);
}

#[test]
fn the_script_reports_damaged_rows_and_decodes_the_others() {
    let entries = super::block_codec::tests::realistic(20);
    let good = block_row(&pack(&entries));
    let mut packed = pack(&entries);
    packed.phases[9] ^= 4;
    let mut rollup = rollup::pack(&[Rollup::of(&entries).unwrap()], Detail::Full);
    rollup.pop();
    let rollup = format!("rollup {}", hex(&rollup));
    let rows = [block_row(&packed), good.clone(), rollup, "block 01".to_owned()];
    let (output, is_whole) = run(&["hex"], &rows.join("\n"));
    let values = values(&output);
    assert!(!is_whole);
    for at in [0, 2, 3] {
        assert!(values[at]["damaged"].is_string(), "{}", values[at]);
    }
    assert_same(&values[1..2], &decoded(&[good]), &rows);
}

/// The row of a vector, and its decoded content.
fn row_of(vector: &Vector) -> (String, Value) {
    match &vector.content {
        Content::Block(entries) => {
            (block_row(&pack(entries)), entries.iter().map(shown_entry).collect())
        }
        Content::Rollups(rollups, depth) => {
            let rollups = if *depth == Detail::Means { means(rollups) } else { rollups.clone() };
            (rollup_row(&rollups, *depth), rollups.iter().map(shown_rollup).collect())
        }
    }
}

/// The section of the document for a vector: its bytes, and the output of the
/// script.
fn section(vector: &Vector, row: &str, printed: &str) -> String {
    let mut section = format!("\n### {}\n\n{}\n\n", vector.title, vector.about);
    for (name, bytes) in
        ["data", "phases", "regions", "readings"].iter().zip(row.split(' ').skip(1))
    {
        let bytes = if bytes == "-" { "null" } else { bytes };
        writeln!(section, "    {name:<8} {bytes}").unwrap();
    }
    write!(section, "\n```json\n{}\n```\n", printed.trim_end()).unwrap();
    section
}

#[test]
fn the_document_has_these_vectors() {
    let path = repository().join("docs/block-format.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let at = document.find(MARK).expect("the mark") + MARK.len();
    let vectors = vectors::all();
    let (rows, expected): (Vec<String>, Vec<Value>) = vectors.iter().map(row_of).unzip();
    let (output, _) = run(&["hex"], &rows.join("\n"));
    assert_same(&values(&output), &expected, &rows);
    // Each row starts with a line that begins with `[`; its other lines begin
    // with a space.
    let printed = output.replace("\n[", "\n\0[");
    let mut current = document[..at].to_owned();
    for ((vector, row), printed) in vectors.iter().zip(&rows).zip(printed.split('\0')) {
        current.push_str(&section(vector, row, printed));
    }
    current.push_str(&walkthrough(&vectors[0]));
    if std::env::var_os("WAKEFUL_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == current,
        "docs/block-format.md does not match the bytes of the codec. Existing databases use \
         those of the document: changing the format requires a new version. If only the \
         vectors changed, update it with `WAKEFUL_UPDATE=1 cargo nextest run -p wakeful-core \
         block_format` and review the diff"
    );
}

/// Every field of a vector's `data`, with the state of the decoder after it.
fn walkthrough(vector: &Vector) -> String {
    let Content::Block(entries) = &vector.content else { panic!("no block") };
    let (output, _) = run(&["hex", "--trace"], &block_row(&pack(entries)));
    let fields = output.lines().take_while(|line| !line.starts_with('['));
    let mut text = format!(
        "\n### {}, field by field\n\nEach field of `data`, and the state of the range decoder \
         after it.\n\n",
        vector.title
    );
    fields.for_each(|line| writeln!(text, "    {line}").unwrap());
    text
}

/// The tables in the document are those of the migrations.
#[test]
fn the_script_reads_a_database_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it's a copy #1.db");
    let file = file.to_str().unwrap();
    let migrations = repository().join("crates/wakeful-store/migrations/sqlite");
    let entries = super::block_codec::tests::realistic(150);
    let (older, newer) = entries.split_at(130);
    let (day, hours) = (Rollup::of(older).unwrap(), older.chunks(60).filter_map(Rollup::of));
    let hours: Vec<Rollup> = hours.collect();
    let mut sql = String::new();
    for (table, columns, bytes) in [
        ("blocks", "from_at, to_at, count, data, phases", {
            let PackedBlock { data, phases, .. } = pack(older);
            format!("1, 2, 130, x'{}', x'{}'", hex(&data), hex(&phases))
        }),
        ("blocks", "from_at, to_at, count, data", "0, 0, 1, x'0102030405'".to_owned()),
        ("rollups", "grain, at, data", {
            format!("1, 0, x'{}'", hex(&rollup::pack(&hours, Detail::Means)))
        }),
        ("rollups", "grain, at, data", {
            format!("2, 0, x'{}'", hex(&rollup::pack(std::slice::from_ref(&day), Detail::Full)))
        }),
    ] {
        writeln!(sql, "insert into {table} (monitor_id, {columns})").unwrap();
        writeln!(sql, "values (x'0198c0de000070008000000000000001', {bytes});").unwrap();
    }
    for entry in newer {
        let beat = &entry.heartbeat;
        let phases = serde_json::to_string(&beat.phases).unwrap();
        let load_time = beat.load_time.map_or("null".to_owned(), |span| micros(span).to_string());
        writeln!(
            sql,
            "insert into heartbeats (monitor_id, at, seq, status, message, load_time, phases)
             values (x'0198c0de000070008000000000000001', {}, {}, '{}', '{}', {load_time}, '{phases}');",
            beat.at.0,
            entry.seq,
            beat.status.as_str(),
            beat.message,
        )
        .unwrap();
    }
    const MAKE: &str = "
import pathlib, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for step in sorted(pathlib.Path(sys.argv[2]).glob('*.sql')):
    database.executescript(step.read_text())
database.executescript(sys.stdin.read())
";
    let (_, is_made) = python(&["-c", MAKE, file, migrations.to_str().unwrap()], &sql);
    assert!(is_made);
    let read = |what: &str| {
        let monitor = "0198c0de-0000-7000-8000-000000000001";
        let (output, is_whole) = run(&[what, file, "--monitor", monitor], "");
        let mut values = values(&output);
        for value in &mut values {
            let id = value.as_object_mut().unwrap().remove("monitorid").unwrap();
            assert_eq!(id, monitor);
        }
        (values, is_whole)
    };
    let (of_another, _) = run(&["days", file, "--monitor", &uuid::Uuid::nil().to_string()], "");
    assert_eq!(of_another, "");
    let (heartbeats, is_whole) = read("heartbeats");
    assert!(!is_whole, "one block is damaged");
    let mut expected: Vec<Value> = entries.iter().map(shown_entry).collect();
    // The monitor is not in this file, so its interval is unknown.
    expected[130..].iter_mut().for_each(|value| value["interval"] = 0.into());
    assert_same(&heartbeats, &expected, &vec![String::new(); 150]);
    for (what, rollups) in [("hours", means(&hours)), ("days", vec![day]), ("fortnights", vec![])] {
        let (values, is_whole) = read(what);
        let expected: Vec<Value> = rollups.iter().map(shown_rollup).collect();
        assert!(is_whole && values.len() == expected.len(), "{what}");
        assert_same(&values, &expected, &vec![what.to_owned(); expected.len()]);
    }
}
