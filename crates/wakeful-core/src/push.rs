//! The rules of push monitors: when the report of a job is expected, which runs are in progress,
//! and what a ping means. A ping is a report in the format of Healthchecks.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use uuid::Uuid;

use crate::calendar::cron::Cron;
use crate::calendar::oncalendar::OnCalendar;
use crate::calendar::zone::Zone;
use crate::reason::Reason;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;
use crate::verdict::Report;
use crate::{Invalid, named_enum, serde_millis};

/// The lines of a schedule, and the characters of each.
const MAX_LINES: usize = 4;
const MAX_LINE_LENGTH: usize = 100;
/// How early a report may be; less if the schedule is dense.
pub const MAX_EARLY: Duration = Duration::from_secs(60);
/// The times that the longest and the shortest gap of a schedule are computed from.
const GAPS: usize = 10;
/// The runs in progress that are stored; the oldest is dropped.
const MAX_RUNS: usize = 8;
/// The same ping within this time is a retry of the client.
const RETRY_WINDOW: Duration = Duration::from_secs(600);
/// The pings that retries are recognized of.
const MAX_RECENT: usize = 16;
const MAX_KEYWORDS_LENGTH: usize = 500;

const SHORT_NAMES: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// When the reports of a job are expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredSchedule", into = "StoredSchedule")]
pub struct JobSchedule {
    text: String,
    zone: Zone,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Cron(Cron),
    OnCalendar(Box<OnCalendar>),
}

#[derive(Serialize, Deserialize)]
struct StoredSchedule {
    text: String,
    tz: String,
}

impl From<JobSchedule> for StoredSchedule {
    fn from(schedule: JobSchedule) -> Self {
        Self { tz: schedule.zone.name().to_owned(), text: schedule.text }
    }
}

impl TryFrom<StoredSchedule> for JobSchedule {
    type Error = Invalid;

    fn try_from(stored: StoredSchedule) -> Result<Self, Invalid> {
        Self::parse(&stored.text, Zone::stored(&stored.tz))
    }
}

impl JobSchedule {
    /// Cron expressions or those of systemd's timers, one in each line.
    pub fn parse(text: &str, zone: Zone) -> Result<Self, Invalid> {
        let texts: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if texts.is_empty() || texts.len() > MAX_LINES {
            return Err(Invalid::new(format!("must have at most {MAX_LINES} lines")));
        }
        if texts.iter().any(|line| line.chars().count() > MAX_LINE_LENGTH) {
            let why = format!("must have at most {MAX_LINE_LENGTH} characters in each line");
            return Err(Invalid::new(why));
        }
        let lines = texts.iter().map(|line| Line::parse(line)).collect::<Result<_, _>>()?;
        Ok(Self { text: texts.join("\n"), zone, lines })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Whether it is written as cron expressions.
    pub fn is_cron(&self) -> bool {
        self.lines.iter().all(|line| matches!(line, Line::Cron(_)))
    }

    /// The first scheduled time after `after`; `None` if there is none for 50 years.
    pub fn next(&self, after: Millis) -> Option<Millis> {
        let next = |line: &Line| match line {
            Line::Cron(cron) => cron.next(after, &self.zone),
            Line::OnCalendar(calendar) => calendar.next(after, &self.zone),
        };
        self.lines.iter().filter_map(next).min()
    }

    pub fn upcoming(&self, after: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.next(after), |at| self.next(*at)).take(count).collect()
    }

    /// The scheduled time that is waited for after a report at `reported`. A report that is a
    /// little early counts for the time that follows it.
    pub fn expected(&self, reported: Millis) -> Option<Millis> {
        let next = self.next(reported)?;
        let following = self.next(next);
        let early = following.map_or(MAX_EARLY, |following| early(following.since(next)));
        if next.since(reported) <= early { following } else { Some(next) }
    }

    /// The shortest and the longest of the next gaps, in whole seconds; `None` if it never
    /// happens. A gap that does not end is as long as the schedule may be.
    pub fn gaps(&self, now: Millis) -> Option<(u64, u64)> {
        const MAX_GAP: u64 = crate::monitors::Interval::MAX_OF_API as u64;
        let times = self.upcoming(now, GAPS + 1);
        times.first()?;
        let gaps = times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs().clamp(1, MAX_GAP));
        let (shortest, longest) =
            gaps.fold((MAX_GAP, 0), |(low, high), gap| (low.min(gap), high.max(gap)));
        Some((shortest, if longest == 0 { MAX_GAP } else { longest }))
    }
}

/// How early a report may be: a tenth of the gap, up to a minute.
fn early(gap: Duration) -> Duration {
    MAX_EARLY.min(gap / 10)
}

impl Line {
    fn parse(text: &str) -> Result<Self, Invalid> {
        let neither = |why: &Invalid| {
            Invalid::new(format!("is neither a cron nor an OnCalendar expression: it {why}"))
        };
        let short = SHORT_NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let cron_text = short.map_or(text, |(_, long)| long);
        let is_cron = text.starts_with('@') || text.split_ascii_whitespace().count() > 4;
        if is_cron {
            return Cron::parse(cron_text).map(Self::Cron).map_err(|why| neither(&why));
        }
        let calendar = OnCalendar::parse(text).map_err(|why| neither(&why))?;
        Ok(Self::OnCalendar(Box::new(calendar)))
    }
}

/// The name of a monitor in ping URLs, unique in its team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if !(1..=100).contains(&text.len()) || !text.chars().all(is_plain) {
            return Err(Invalid::new("must have 1 to 100 of the characters a-z, 0-9, _ and -"));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

stored_as_text!(Slug);

named_enum! {
    /// What a body without any of the keywords means.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Otherwise {
        #[default]
        Ignore = "ignore",
        Fail = "fail",
    }
}

impl Otherwise {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|one| one.as_str() == text);
        found.ok_or_else(|| Invalid::new("must be ignore or fail"))
    }
}

/// Words in the body of a ping that say what it means, each a comma-separated list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Keywords {
    pub start: String,
    pub success: String,
    pub failure: String,
    pub otherwise: Otherwise,
}

impl Keywords {
    pub fn list(text: &str) -> Result<String, Invalid> {
        if text.chars().count() > MAX_KEYWORDS_LENGTH || text.contains('\0') {
            let why = format!("must have at most {MAX_KEYWORDS_LENGTH} characters");
            return Err(Invalid::new(why));
        }
        let words: Vec<&str> =
            text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        Ok(words.join(", "))
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty() && self.success.is_empty() && self.failure.is_empty()
    }

    /// What a body means; `None` if it is to be ignored.
    fn signal(&self, body: &[u8]) -> Option<Signal> {
        let body = String::from_utf8_lossy(body);
        let has = |list: &str| list.split(", ").any(|word| !word.is_empty() && body.contains(word));
        match self.otherwise {
            _ if has(&self.failure) => Some(Signal::Fail),
            _ if has(&self.success) => Some(Signal::Success),
            _ if has(&self.start) => Some(Signal::Start),
            Otherwise::Ignore => None,
            Otherwise::Fail => Some(Signal::Fail),
        }
    }
}

/// What the URL of a ping says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    Start,
    Success,
    Fail,
    Log,
    /// Of the job; 0 is a success.
    ExitCode(u8),
}

named_enum! {
    /// What has become of a ping.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PingKind {
        Start = "start",
        Success = "success",
        Fail = "fail",
        Log = "log",
        /// It was recorded, and changes nothing.
        Ignored = "ign",
    }
}

impl PingKind {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

impl Signal {
    /// The end of a ping URL.
    pub fn parse(text: &str) -> Option<Self> {
        let is_code = text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            "" => Some(Self::Success),
            "start" => Some(Self::Start),
            "fail" => Some(Self::Fail),
            "log" => Some(Self::Log),
            code => code.parse().ok().filter(|_| is_code).map(Self::ExitCode),
        }
    }

    pub fn kind(self) -> PingKind {
        match self {
            Self::Start => PingKind::Start,
            Self::Success | Self::ExitCode(0) => PingKind::Success,
            Self::Fail | Self::ExitCode(_) => PingKind::Fail,
            Self::Log => PingKind::Log,
        }
    }

    pub fn exit_code(self) -> Option<u8> {
        match self {
            Self::ExitCode(code) => Some(code),
            Self::Start | Self::Success | Self::Fail | Self::Log => None,
        }
    }

    /// What a ping means to a monitor; `None` if it is recorded and otherwise ignored.
    pub fn read(
        self,
        is_post: bool,
        post_only: bool,
        keywords: &Keywords,
        body: &[u8],
    ) -> Option<Self> {
        if post_only && !is_post {
            return None;
        }
        match self {
            Self::Success if !keywords.is_empty() => keywords.signal(body),
            other => Some(other),
        }
    }

    /// The report at the end of a run that took `duration`; `None` if it is no end.
    pub fn report(self, duration: Option<Duration>) -> Option<Report> {
        let (up, message, reason) = match self {
            Self::Start | Self::Log => return None,
            Self::Success | Self::ExitCode(0) => (true, "reported success".to_owned(), None),
            Self::Fail => (false, "reported failure".to_owned(), Some(Reason::Reported)),
            Self::ExitCode(code) => {
                (false, format!("exited with code {code}"), Some(Reason::ExitCode))
            }
        };
        Some(Report { up, degraded: false, message, load_time: duration, reason })
    }
}

/// What is known about the runs of a job, beyond its last report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PushState {
    /// The runs in progress, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Run>,
    /// Pings that may be retried, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recent: Vec<RecentPing>,
}

/// A run in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rid: Option<Uuid>,
    #[serde(with = "serde_millis::instant")]
    at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RecentPing {
    rid: Uuid,
    signal: Signal,
    #[serde(with = "serde_millis::instant")]
    at: Millis,
}

impl PushState {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.recent.is_empty()
    }

    /// Whether a run is in progress.
    pub fn is_running(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether this is a ping that was received before. Otherwise it is noted, to recognize it.
    pub fn is_repeated(&mut self, rid: Option<Uuid>, signal: Signal, now: Millis) -> bool {
        self.recent.retain(|one| now.since(one.at) < RETRY_WINDOW);
        let Some(rid) = rid else { return false };
        if self.recent.iter().any(|one| one.rid == rid && one.signal == signal) {
            return true;
        }
        if self.recent.len() >= MAX_RECENT {
            self.recent.remove(0);
        }
        self.recent.push(RecentPing { rid, signal, at: now });
        false
    }

    pub fn start(&mut self, rid: Option<Uuid>, now: Millis) {
        // The end has overtaken its start.
        let is_over = |one: &RecentPing| {
            Some(one.rid) == rid && matches!(one.signal.kind(), PingKind::Success | PingKind::Fail)
        };
        if self.recent.iter().any(is_over) {
            return;
        }
        // A job that starts again with the same id has been restarted.
        self.runs.retain(|run| rid.is_none() || run.rid != rid);
        if self.runs.len() >= MAX_RUNS {
            self.runs.remove(0);
        }
        self.runs.push(Run { rid, at: now });
    }

    /// Ends a run, the one with this id or else, without one, the newest. Returns how long it
    /// took.
    pub fn end(&mut self, rid: Option<Uuid>, now: Millis) -> Option<Duration> {
        let place = match rid {
            Some(_) => self.runs.iter().position(|run| run.rid == rid)?,
            None => self.runs.len().checked_sub(1)?,
        };
        Some(now.since(self.runs.remove(place).at))
    }

    /// When the oldest run has taken too long.
    pub fn deadline(&self, max_runtime: Duration) -> Option<Millis> {
        self.runs.iter().map(|run| run.at.after(max_runtime)).min()
    }

    pub fn drop_runs(&mut self) {
        self.runs.clear();
    }

    /// Drops the runs that have taken too long. Whether there are any.
    pub fn drop_overdue(&mut self, max_runtime: Duration, now: Millis) -> bool {
        let before = self.runs.len();
        self.runs.retain(|run| run.at.after(max_runtime) > now);
        self.runs.len() < before
    }

    /// Drops the runs whose end may have been reported while nobody listened, from `from` to
    /// `now`: those that should have ended by then, and all that are short compared to the gap.
    pub fn drop_unheard(&mut self, max_runtime: Duration, from: Millis, now: Millis) {
        let is_long = now.since(from) > max_runtime / 100;
        self.runs.retain(|run| from >= now || (run.at.after(max_runtime) > now && !is_long));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        Millis::parse(text).expect("a time")
    }

    fn schedule(text: &str) -> JobSchedule {
        JobSchedule::parse(text, Zone::parse("Europe/Berlin").expect("a zone")).expect(text)
    }

    fn utc(times: &[Millis]) -> Vec<String> {
        times.iter().map(std::string::ToString::to_string).collect()
    }

    #[test]
    fn a_fixed_time_happens_on_the_days_on_which_the_clock_changes() {
        let nightly = schedule("30 2 * * *");
        // There is no 02:30: the job runs when the clock changes.
        let spring = nightly.upcoming(at("2026-03-28T12:00:00Z"), 2);
        assert_eq!(utc(&spring), ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]);
        // There are two: it runs at the first.
        let autumn = nightly.upcoming(at("2026-10-24T12:00:00Z"), 2);
        assert_eq!(utc(&autumn), ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]);
        let hourly = schedule("30 * * * *").upcoming(at("2026-10-24T23:45:00Z"), 3);
        assert_eq!(
            utc(&hourly),
            ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", "2026-10-25T02:30:00.000Z"]
        );
    }

    #[test]
    fn a_report_that_is_a_little_early_counts_for_the_time_that_follows() {
        let nightly = schedule("30 2 * * *");
        let expected = |reported: &str| nightly.expected(at(reported)).map(|at| at.to_string());
        let next = Some("2026-11-19T01:30:00.000Z".to_owned());
        assert_eq!(expected("2026-11-18T01:29:30Z"), next, "30 s early");
        assert_eq!(expected("2026-11-18T01:29:00Z"), next, "a minute early");
        assert_eq!(expected("2026-11-18T01:31:00Z"), next, "late");
        assert_eq!(
            expected("2026-11-18T01:28:59Z").as_deref(),
            Some("2026-11-18T01:30:00.000Z"),
            "too early"
        );
        let dense = schedule("* * * * *");
        let expected = |reported: &str| dense.expected(at(reported)).map(|at| at.to_string());
        assert_eq!(expected("2026-11-18T01:29:54Z").as_deref(), Some("2026-11-18T01:31:00.000Z"));
        assert_eq!(expected("2026-11-18T01:29:53Z").as_deref(), Some("2026-11-18T01:30:00.000Z"));
    }

    #[test]
    fn a_schedule_has_gaps() {
        let now = at("2026-11-18T12:00:00Z");
        assert_eq!(schedule("0 9,10 * * *").gaps(now), Some((3_600, 82_800)));
        assert_eq!(schedule("@daily\n*-*-* 12:00").gaps(now), Some((43_200, 43_200)));
        assert_eq!(schedule("0 0 29 2 *").gaps(now), Some((31_536_000, 31_536_000)));
        assert_eq!(schedule("2030-01-01").gaps(now), Some((31_536_000, 31_536_000)));
        assert_eq!(schedule("0 0 30 2 *").gaps(now), None);
    }

    #[test]
    fn anything_else_is_rejected() {
        let utc = || Zone::utc();
        for text in ["", "@reboot", "* * * * * *", "1\n2\n3\n4\n5", "soon", &"0 ".repeat(80)] {
            assert!(JobSchedule::parse(text, utc()).is_err(), "{text}");
        }
        let why = JobSchedule::parse("60 * * * *", utc()).expect_err("invalid").0;
        let expected =
            "is neither a cron nor an OnCalendar expression: it has an invalid minute: \"60\"";
        assert_eq!(why, expected);
    }

    #[test]
    fn a_run_ends_with_its_id_or_else_the_newest_does() {
        let (a, b) = (Some(Uuid::from_u128(1)), Some(Uuid::from_u128(2)));
        let mut state = PushState::default();
        state.start(a, Millis(0));
        state.start(b, Millis(1_000));
        state.start(None, Millis(2_000));
        assert_eq!(state.deadline(Duration::from_secs(60)), Some(Millis(60_000)));
        assert_eq!(state.end(a, Millis(5_000)), Some(Duration::from_secs(5)));
        assert_eq!(state.end(a, Millis(5_000)), None);
        assert_eq!(state.end(None, Millis(5_000)), Some(Duration::from_secs(3)));
        assert_eq!(state.deadline(Duration::from_secs(60)), Some(Millis(61_000)));
        assert!(!state.drop_overdue(Duration::from_secs(60), Millis(60_999)));
        assert!(state.drop_overdue(Duration::from_secs(60), Millis(61_000)));
        for number in 0..20 {
            state.start(None, Millis(number));
        }
        assert_eq!(state.runs.len(), MAX_RUNS);
        assert_eq!(state.deadline(Duration::ZERO), Some(Millis(12)));
    }

    #[test]
    fn the_end_of_a_run_that_may_have_been_lost_is_not_waited_for() {
        let hour = Duration::from_secs(3_600);
        let runs = |from: i64, now: i64| {
            let mut state = PushState::default();
            state.start(None, Millis(0));
            state.drop_unheard(hour, Millis(from), Millis(now));
            state.runs.len()
        };
        assert_eq!(runs(10_000, 10_000), 1, "no gap");
        assert_eq!(runs(10_000, 15_000), 1, "a short one");
        assert_eq!(runs(10_000, 100_000), 0, "a long one");
        assert_eq!(runs(3_599_000, 3_601_000), 0, "it should have ended meanwhile");
    }

    #[test]
    fn the_same_ping_within_ten_minutes_is_a_retry() {
        let rid = Some(Uuid::from_u128(7));
        let mut state = PushState::default();
        assert!(!state.is_repeated(rid, Signal::Success, Millis(0)));
        assert!(state.is_repeated(rid, Signal::Success, Millis(599_999)));
        assert!(!state.is_repeated(rid, Signal::Start, Millis(0)));
        assert!(!state.is_repeated(None, Signal::Start, Millis(0)));
        assert!(!state.is_repeated(None, Signal::Start, Millis(0)));
        assert!(!state.is_repeated(rid, Signal::Success, Millis(600_000)));
        for number in 0..100 {
            state.is_repeated(Some(Uuid::from_u128(number)), Signal::Fail, Millis(600_000));
        }
        assert_eq!(state.recent.len(), MAX_RECENT);
    }

    #[test]
    fn a_ping_url_says_what_has_happened() {
        for (text, kind) in [
            ("", PingKind::Success),
            ("start", PingKind::Start),
            ("fail", PingKind::Fail),
            ("log", PingKind::Log),
            ("0", PingKind::Success),
            ("255", PingKind::Fail),
        ] {
            assert_eq!(Signal::parse(text).map(Signal::kind), Some(kind), "{text}");
        }
        for text in ["256", "-1", "+1", "0001", "Start", "stop"] {
            assert_eq!(Signal::parse(text), None, "{text}");
        }
        let failed = Signal::ExitCode(3).report(None).expect("an end");
        assert_eq!((failed.up, failed.reason), (false, Some(Reason::ExitCode)));
    }

    #[test]
    fn keywords_are_searched_for_in_the_body() {
        let keywords = Keywords {
            start: "begin".to_owned(),
            success: Keywords::list(" done,, ok ").expect("a list"),
            failure: "error".to_owned(),
            otherwise: Otherwise::Ignore,
        };
        let read = |signal: Signal, body: &str| {
            signal.read(true, true, &keywords, body.as_bytes()).map(Signal::kind)
        };
        assert_eq!(read(Signal::Success, "done, with an error"), Some(PingKind::Fail));
        assert_eq!(read(Signal::Success, "all ok"), Some(PingKind::Success));
        assert_eq!(read(Signal::Success, "begin"), Some(PingKind::Start));
        assert_eq!(read(Signal::Success, "what"), None);
        assert_eq!(read(Signal::Fail, "ok"), Some(PingKind::Fail));
        assert_eq!(Signal::Success.read(false, true, &Keywords::default(), b""), None);
        let fail = Keywords { otherwise: Otherwise::Fail, ..keywords };
        assert_eq!(Signal::Success.read(true, false, &fail, b"x"), Some(Signal::Fail));
    }
}
