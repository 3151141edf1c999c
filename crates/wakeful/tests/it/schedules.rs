//! The schedules of jobs are those of Healthchecks and of systemd's timers: random expressions
//! around changes of the clock, compared with the libraries that Healthchecks uses and with
//! systemd.

use serde_json::json;
use std::io::Write as _;
use std::process::{Command, Stdio};
use wakeful_core::calendar::zone::Zone;
use wakeful_core::push::JobSchedule;
use wakeful_core::time::Millis;

const CASES: usize = 4_000;
/// The expressions that systemd evaluates at a time, with the same zone and start.
const GROUP: usize = 40;
const TIMES: usize = 3;
const ZONES: [&str; 6] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Pacific/Auckland",
    "Africa/Cairo",
];
/// One case differs: its text, zone and start. A local time that occurs twice counts once, the
/// first time. systemd converts it with mktime(3), which takes the offset of the time that it
/// converted before. For `~` that is the end of the month, after the clock is set back, so systemd
/// takes the second time.
const DIFFERENT: (&str, &str, i64) = ("Sat,Sun *-*~26 *:55", "Pacific/Auckland", 1_774_739_093);
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

    fn zone(&mut self) -> &'static str {
        ZONES[usize::try_from(self.below(6)).unwrap()]
    }

    fn start(&mut self) -> i64 {
        let start = STARTS[usize::try_from(self.below(6)).unwrap()];
        start + i64::try_from(self.below(86_400)).unwrap()
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

/// An expression with where and when it is evaluated.
struct Case {
    kind: &'static str,
    text: String,
    zone: &'static str,
    after: i64,
}

/// Three times, or none if the expression is not valid.
fn ours(case: &Case) -> Option<Vec<i64>> {
    let zone = Zone::parse(case.zone).expect("a zone");
    let schedule = JobSchedule::parse(&case.text, zone).ok()?;
    let times = schedule.upcoming(Millis(case.after * 1_000), TIMES);
    Some(times.iter().map(|at| at.0 / 1_000).collect())
}

fn assert_same(cases: &[Case], theirs: &[Option<Vec<i64>>]) {
    assert_eq!(theirs.len(), cases.len());
    let different: Vec<String> = cases
        .iter()
        .zip(theirs)
        .filter_map(|(case, theirs)| {
            let ours = ours(case);
            let Case { kind, text, zone, after } = case;
            (ours != *theirs)
                .then(|| format!("{kind} {text:?} {zone} after {after}: {ours:?}, not {theirs:?}"))
        })
        .collect();
    let count = different.len();
    assert!(different.is_empty(), "{count} of {}:\n{}", cases.len(), different.join("\n"));
}

/// What cronsim and oncalendar say.
fn by_python(cases: &[Case]) -> Vec<Option<Vec<i64>>> {
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
        .map(|Case { kind, text, zone, after }| json!([kind, text, zone, after, TIMES]).to_string())
        .collect();
    let writer = std::thread::spawn(move || input.write_all((lines.join("\n") + "\n").as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What systemd says about expressions with the same zone and start. It prints a paragraph for each:
/// nothing if it is not valid, or else each time, also in UTC.
fn by_systemd(cases: &[Case]) -> Vec<Option<Vec<i64>>> {
    let output = Command::new("systemd-analyze")
        .args(["calendar", &format!("--iterations={TIMES}")])
        .arg(format!("--base-time=@{}", cases[0].after))
        .arg("--")
        .args(cases.iter().map(|case| &case.text))
        .env("TZ", cases[0].zone)
        .env("LC_ALL", "C")
        .output()
        .unwrap_or_else(|error| {
            panic!("systemd-analyze cannot be started ({error}): run scripts/install-test-deps")
        });
    let mut found = vec![None; cases.len()];
    let mut place = 0;
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        if line.is_empty() {
            place += 1;
            continue;
        }
        let times = found[place].get_or_insert_with(Vec::new);
        if let [.., date, time, "UTC"] = line.split(' ').collect::<Vec<&str>>()[..] {
            let at = Millis::parse(&format!("{date}T{time}Z")).unwrap();
            times.push(at.0 / 1_000);
        }
    }
    assert_eq!(place + 1, cases.len(), "{}", String::from_utf8_lossy(&output.stderr));
    found
}

#[test]
fn schedules_are_those_of_healthchecks() {
    let mut numbers = Numbers(7);
    let mut cases = Vec::new();
    for number in 0..2 * CASES {
        let (zone, after) = (numbers.zone(), numbers.start());
        let (kind, text) = match number % 2 {
            0 => ("cron", numbers.cron()),
            _ => ("oncalendar", numbers.on_calendar()),
        };
        cases.push(Case { kind, text, zone, after });
    }
    assert_same(&cases, &by_python(&cases));
}

#[test]
fn schedules_are_those_of_systemd() {
    let mut numbers = Numbers(11);
    let (mut cases, mut theirs) = (Vec::new(), Vec::new());
    while cases.len() < CASES {
        let (zone, after) = (numbers.zone(), numbers.start());
        let case = |_| Case { kind: "oncalendar", text: numbers.on_calendar(), zone, after };
        let group: Vec<Case> = (0..GROUP).map(case).collect();
        let times = by_systemd(&group);
        // It rejects a step that leaves the range, as in `20/7:00`, which Healthchecks accepts.
        let valid = group.into_iter().zip(times).filter(|(case, times)| {
            times.is_some() && (case.text.as_str(), case.zone, case.after) != DIFFERENT
        });
        let (group, times): (Vec<Case>, Vec<_>) = valid.unzip();
        assert!(group.len() > GROUP / 2, "{} of {GROUP} are valid", group.len());
        cases.extend(group);
        theirs.extend(times);
    }
    assert_same(&cases, &theirs);
    let (text, zone, after) = DIFFERENT;
    let different = Case { kind: "oncalendar", text: text.to_owned(), zone, after };
    // 00:55, 01:55, and 02:55 before the clock is set back.
    let times = vec![1_775_303_700, 1_775_307_300, 1_775_310_900];
    assert_same(&[different], &[Some(times)]);
}
