//! The schedules of jobs are those of Healthchecks: random expressions around changes of the
//! clock, compared with the libraries that it uses.

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};
use wakeful_core::calendar::zone::Zone;
use wakeful_core::push::JobSchedule;
use wakeful_core::time::Millis;

const CASES: u64 = 1_000;
const TIMES: usize = 3;
const ZONES: [&str; 6] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Pacific/Auckland",
    "Africa/Cairo",
];
/// Before changes of the clock, and on other days.
const STARTS: [i64; 6] =
    [1_774_700_000, 1_792_830_000, 1_772_900_000, 1_793_450_000, 1_777_000_000, 1_798_700_000];

/// Numbers that are the same in each run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// A field; `to` joins the ends of a range.
    fn field(&mut self, first: u64, last: u64, to: &str, star: &str) -> String {
        let one = self.between(first, last);
        match self.below(6) {
            0 | 1 => star.to_owned(),
            2 => format!("{one}{to}{}", self.between(one, last)),
            3 => format!("{one}/{}", self.between(1, 7)),
            4 => format!("{one},{}", self.between(first, last)),
            _ => one.to_string(),
        }
    }

    fn cron(&mut self) -> String {
        let step = self.between(2, 20);
        let minute =
            if self.below(4) == 0 { format!("*/{step}") } else { self.field(0, 59, "-", "*") };
        let hour = if self.below(3) == 0 {
            self.between(0, 3).to_string()
        } else {
            self.field(0, 23, "-", "*")
        };
        let day = if self.below(8) == 0 { "L".to_owned() } else { self.field(1, 28, "-", "*") };
        let (month, weekday) = (self.field(1, 12, "-", "*"), self.field(0, 6, "-", "*"));
        format!("{minute} {hour} {day} {month} {weekday}")
    }

    fn on_calendar(&mut self) -> String {
        const DAYS: [&str; 5] = ["", "Mon ", "Sat,Sun ", "Mon..Fri ", "wednesday "];
        let day = DAYS[usize::try_from(self.below(5)).unwrap_or(0)];
        let date = match self.below(4) {
            0 => String::new(),
            1 => format!("*-*~{:02} ", self.between(1, 28)),
            2 => format!("{}-{} ", self.field(1, 12, "..", "*"), self.field(1, 28, "..", "*")),
            _ => format!("*-{}-{} ", self.field(1, 12, "..", "*"), self.field(1, 31, "..", "*")),
        };
        let hour = if self.below(3) == 0 {
            self.between(0, 3).to_string()
        } else {
            self.field(0, 23, "..", "*")
        };
        let time = format!("{hour}:{}", self.field(0, 59, "..", "*"));
        let seconds = if self.below(3) == 0 {
            format!(":{}", self.field(0, 59, "..", "*"))
        } else {
            String::new()
        };
        format!("{day}{date}{time}{seconds}")
    }
}

/// Three times, or none if the expression is not valid.
fn ours(text: &str, zone: &str, after: i64) -> Value {
    let zone = Zone::parse(zone).expect("a zone");
    let Ok(schedule) = JobSchedule::parse(text, zone) else { return Value::Null };
    let times = schedule.upcoming(Millis(after * 1_000), TIMES);
    json!(times.iter().map(|at| at.0 / 1_000).collect::<Vec<_>>())
}

#[test]
fn schedules_are_those_of_healthchecks() {
    let mut numbers = Numbers(7);
    let mut cases = Vec::new();
    for number in 0..2 * CASES {
        let zone = ZONES[usize::try_from(numbers.below(6)).unwrap()];
        let after = STARTS[usize::try_from(numbers.below(6)).unwrap()]
            + i64::try_from(numbers.below(86_400)).unwrap();
        let (kind, text) = match number % 2 {
            0 => ("cron", numbers.cron()),
            _ => ("oncalendar", numbers.on_calendar()),
        };
        cases.push((kind, text, zone, after));
    }
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/schedules.py");
    let mut python = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python runs");
    let mut input = python.stdin.take().unwrap();
    let lines: Vec<String> = cases
        .iter()
        .map(|(kind, text, zone, after)| json!([kind, text, zone, after, TIMES]).to_string())
        .collect();
    let writer = std::thread::spawn(move || input.write_all((lines.join("\n") + "\n").as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let theirs: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(theirs.len(), cases.len());
    let different: Vec<String> = cases
        .iter()
        .zip(&theirs)
        .filter_map(|((kind, text, zone, after), theirs)| {
            let ours = ours(text, zone, *after);
            (ours != *theirs)
                .then(|| format!("{kind} {text:?} {zone} after {after}: {ours}, not {theirs}"))
        })
        .collect();
    assert!(
        different.is_empty(),
        "{} of {}:\n{}",
        different.len(),
        cases.len(),
        different.join("\n")
    );
}
