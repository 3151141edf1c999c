//! The demo: an account with a month of invented history for a few monitors, written to a new
//! database. The monitors check a site on loopback, which `wakeful serve --demo` runs; their
//! past results went through the same verdict as real ones.

use std::f64::consts::TAU;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::access::permission;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::heartbeat::Phases;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitors::headers::Headers;
use wakeful_core::monitors::spec::{ApiSpec, HttpSpec, HttpUrl};
use wakeful_core::monitors::{Interval, Monitor, Name, Spec, Tags};
use wakeful_core::notifications::notifier::{
    Channel, Keys, Notifier, SigningSecret, Template, WebhookSpec,
};
use wakeful_core::observation::{Contact, Observation};
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Input, Policy, Report, State, step};
use wakeful_store::Record;

use crate::accounts::auth::Origin;
use crate::accounts::signup::SignUp;
use crate::caller::Authorized;
use crate::notifications::events::verdict_record;
use crate::{Engine, Error, Result, random};

pub const EMAIL: &str = "demo@example.com";
pub const PASSWORD: &str = "wakeful demo 1";

const DAY: Duration = Duration::from_secs(24 * 3600);
const DAYS: u32 = 30;
/// Results that are written together.
const BATCH: usize = 4_096;
/// The cause of every invented outage.
const OUTAGE: &str = "503 Service Unavailable";

/// A part of the demo's site, with a monitor.
struct Part {
    name: &'static str,
    /// Its host is this label below `localhost`.
    host: &'static str,
    tags: &'static str,
    /// The interval of its checks in seconds.
    interval: u64,
    /// Its usual response time in milliseconds.
    usual: u32,
    /// When it was down: hours ago, and for how many minutes.
    outages: &'static [(u32, u32)],
    condition: Condition,
}

/// How it is now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Works,
    /// It has been down since its last outage.
    Broken,
    /// Its monitor was paused three days ago.
    Paused,
}

const PAUSED_FOR: Duration = Duration::from_secs(3 * 24 * 3600);

#[rustfmt::skip]
const PARTS: [Part; 12] = [
    part("Storefront", "shop", "prod, eu", 60, 84, &[(411, 23)]),
    part("Checkout API", "checkout", "prod, eu", 60, 46, &[(152, 41), (497, 18)]),
    part("Payments webhook", "pay", "prod", 300, 130, &[(411, 35)]),
    part("Search", "search", "prod, us", 300, 18, &[]),
    Part { condition: Condition::Broken, ..part("Image CDN", "img", "prod", 300, 22, &[(1, 60), (266, 55)]) },
    part("Login", "id", "prod, eu", 300, 65, &[(620, 20)]),
    part("Admin console", "admin", "internal", 300, 210, &[(98, 15), (333, 70)]),
    Part { condition: Condition::Paused, ..part("Docs", "docs", "", 300, 31, &[(200, 30)]) },
    part("Invoice export", "invoices", "internal", 300, 340, &[]),
    part("Replica", "replica", "prod, us", 300, 12, &[(551, 25)]),
    part("Mail relay", "mx", "prod", 300, 27, &[]),
    part("Warehouse gateway", "gateway", "internal", 300, 95, &[(29, 20), (461, 65)]),
];

/// A job that reports once a day, and did not run once.
const JOB: &str = "Nightly backup";
const JOB_FAILED_DAYS_AGO: u32 = 9;

const fn part(
    name: &'static str,
    host: &'static str,
    tags: &'static str,
    interval: u64,
    usual: u32,
    outages: &'static [(u32, u32)],
) -> Part {
    Part { name, host, tags, interval, usual, outages, condition: Condition::Works }
}

/// How the demo's site answers a request for a host: the status and how long it takes.
pub fn response(host: &str) -> (u16, Duration) {
    let label = host.split('.').next().unwrap_or_default();
    match PARTS.iter().find(|part| part.host == label) {
        Some(part) if part.condition == Condition::Broken => (503, Duration::from_millis(5)),
        Some(part) => (200, Duration::from_millis(part.usual.into())),
        None => (200, Duration::ZERO),
    }
}

impl Engine {
    /// Fills a new database. The monitors check `localhost` at this port.
    pub async fn create_demo(&self, port: u16) -> Result<()> {
        let email = EmailAddress::parse(EMAIL).map_err(invalid)?;
        let password = NewPassword::parse(PASSWORD, &email).map_err(invalid)?;
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let from = Origin { address: loopback, agent: "wakeful".into(), request: String::new() };
        let account = SignUp { email, password, name: "Demo".into() };
        let signed_in = self.sign_up(&account, &from).await?;
        let caller = self.caller_by_token(signed_in.token.expose(), None).await?;
        let caller: Authorized<permission::Edit> = caller.with_origin(from).authorize()?;
        let notifier = self.create_demo_notifier(&caller, port).await?;
        let now = self.now();
        for (seed, part) in (1..).zip(&PARTS) {
            let monitor = self.create_demo_monitor(&caller, part, port, notifier).await?;
            let results = results(part, seed, now);
            self.record_past(&monitor, results).await?;
        }
        let interval = Interval::new(DAY.as_secs()).map_err(invalid)?;
        let spec = Spec::Api(ApiSpec { grace: None });
        let job = self.demo_monitor(&caller, JOB, "internal", spec, interval, notifier)?;
        self.store().team(caller.team_access()).add_monitor(&job, &self.audit(&caller)).await?;
        self.record_past(&job, reports(now)).await
    }

    async fn create_demo_notifier(
        &self,
        caller: &Authorized<permission::Edit>,
        port: u16,
    ) -> Result<NotifierId> {
        let now = self.now().before(DAY * (DAYS + 1));
        let notifier = Notifier {
            id: NotifierId::new(now, random::bytes()),
            team: caller.team(),
            name: Name::parse("On-call chat").map_err(invalid)?,
            channel: Channel::Webhook(WebhookSpec {
                url: HttpUrl::parse(&format!("http://chat.localhost:{port}/")).map_err(invalid)?,
                headers: Headers::default(),
                template: Template::Standard,
                keys: Keys::new(SigningSecret::issue(random::bytes())),
            }),
            owner: None,
            disabled: None,
            isdefault: true,
            group_wait: 0,
            messages: Default::default(),
            attempts: Default::default(),
            revision: 1,
            created: now,
            modified: now,
        };
        let team = self.store().team(caller.team_access());
        team.add_notifier(&notifier, &self.audit(caller)).await?;
        Ok(notifier.id)
    }

    async fn create_demo_monitor(
        &self,
        caller: &Authorized<permission::Edit>,
        part: &Part,
        port: u16,
        notifier: NotifierId,
    ) -> Result<Monitor> {
        let url = format!("http://{}.localhost:{port}/", part.host);
        let spec = Spec::Http(HttpSpec::new(HttpUrl::parse(&url).map_err(invalid)?));
        let interval = Interval::new(part.interval).map_err(invalid)?;
        let monitor = Monitor {
            isactive: part.condition != Condition::Paused,
            ..self.demo_monitor(caller, part.name, part.tags, spec, interval, notifier)?
        };
        let team = self.store().team(caller.team_access());
        team.add_monitor(&monitor, &self.audit(caller)).await?;
        Ok(monitor)
    }

    fn demo_monitor(
        &self,
        caller: &Authorized<permission::Edit>,
        name: &str,
        tags: &str,
        spec: Spec,
        interval: Interval,
        notifier: NotifierId,
    ) -> Result<Monitor> {
        let created = self.now().before(DAY * DAYS);
        let push_token = matches!(spec, Spec::Api(_)).then(crate::monitors::new_push_token);
        Ok(Monitor {
            id: MonitorId::new(created, random::bytes()),
            team: caller.team(),
            name: Name::parse(name).map_err(invalid)?,
            spec,
            isactive: true,
            heartbeat_interval: interval,
            timeout: None,
            retries: 0,
            retry_interval: None,
            resend_interval: None,
            severity: Default::default(),
            policy: None,
            upside_down_mode: false,
            tags: Tags::parse(tags).map_err(invalid)?,
            notifiers: vec![notifier],
            depends_on: Vec::new(),
            flapping: Default::default(),
            regions: Default::default(),
            quorum: Default::default(),
            assertions: Vec::new(),
            evidence: Default::default(),
            degraded: None,
            slo: None,
            push_token,
            created,
            modified: created,
        })
    }

    /// Writes past results as the scheduler would have, without notifications.
    async fn record_past(
        &self,
        monitor: &Monitor,
        results: impl Iterator<Item = (Millis, Input)>,
    ) -> Result<()> {
        let policy = Policy::of(monitor);
        let mut state = State::default();
        let mut batch = Vec::with_capacity(BATCH);
        for (seq, (at, input)) in (1..).zip(results) {
            let step = step(&state, input, &policy, at);
            let record = verdict_record(monitor, seq, &step, None, &[]);
            batch.push(Record { events: Vec::new(), ..record });
            state = step.state;
            if batch.len() == BATCH {
                self.store().record(&batch).await?;
                batch.clear();
            }
        }
        self.store().record(&batch).await?;
        Ok(())
    }
}

/// The checks of a month: response times with a daily rhythm, and outages.
fn results(part: &Part, seed: u64, now: Millis) -> impl Iterator<Item = (Millis, Input)> {
    let hours_ago = |hours: u32| now.before(Duration::from_secs(u64::from(hours) * 3600));
    let outages: Vec<(Millis, Millis)> = part
        .outages
        .iter()
        .map(|(hours, minutes)| {
            let start = hours_ago(*hours);
            (start, start.after(Duration::from_secs(u64::from(*minutes) * 60)))
        })
        .collect();
    let usual = f64::from(part.usual) * 1e3;
    let interval = Duration::from_secs(part.interval);
    let mut dice = Dice::new(seed);
    let end = if part.condition == Condition::Paused { now.before(PAUSED_FOR) } else { now };
    let first = now.before(DAY * DAYS).after(interval.mul_f64(dice.roll()));
    let times = std::iter::successors(Some(first), move |at| Some(at.after(interval)));
    times.take_while(move |at| *at < end).map(move |at| {
        if outages.iter().any(|(from, to)| (*from..*to).contains(&at)) {
            return (
                at,
                Input::Observation(Observation::down(
                    Contact::Answered,
                    Reason::HttpStatus,
                    OUTAGE,
                )),
            );
        }
        let day = at.0.rem_euclid(DAY.as_millis() as i64) as f64 / DAY.as_millis() as f64;
        let rhythm = 1.0 + 0.25 * (day * TAU).sin();
        let total = usual * rhythm * (0.25 * dice.normal()).exp();
        let share = |share: f64| Some(Duration::from_micros((total * share) as u64));
        let phases = Phases {
            resolve: share(0.04),
            connect: share(0.11),
            tls: None,
            first_byte: share(0.75),
            transfer: share(0.1),
        };
        let load_time = Duration::from_micros(total as u64);
        let observation = Observation::up(load_time, "200 OK").with_phases(phases);
        (at, Input::Observation(observation))
    })
}

/// The daily reports of a job, the last one some hours ago.
fn reports(now: Millis) -> impl Iterator<Item = (Millis, Input)> {
    let mut dice = Dice::new(99);
    (0..DAYS).rev().map(move |days| {
        let at = now.before(DAY * days).before(Duration::from_secs(5 * 3600));
        let up = days != JOB_FAILED_DAYS_AGO;
        let message = if up { "copied 14 databases" } else { "no space left on the backup disk" };
        let load_time = Duration::from_secs_f64(412.0 * (0.1 * dice.normal()).exp());
        (
            at,
            Input::Report(Report {
                up,
                degraded: false,
                message: message.into(),
                load_time: Some(load_time),
            }),
        )
    })
}

/// Invented numbers, the same at each start.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Between zero and one (xorshift).
    fn roll(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Normally distributed (Box-Muller).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.roll().ln()).sqrt() * (TAU * self.roll()).cos()
    }
}

/// The constants above are valid, so this is a mistake in this file.
fn invalid(why: Invalid) -> Error {
    Error::Refused { field: "demo", why: why.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    #[test]
    fn a_month_has_a_result_for_each_interval_and_ends_in_the_current_condition() {
        for (seed, part) in (1..).zip(&PARTS) {
            let all: Vec<(Millis, Input)> = results(part, seed, NOW).collect();
            let up =
                |(_, input): &(Millis, Input)| matches!(input, Input::Observation(seen) if seen.up);
            let days = if part.condition == Condition::Paused { 27 } else { 30 };
            assert_eq!(all.len() as u64, days * 86_400 / part.interval, "{}", part.name);
            assert!(all.iter().all(|(at, _)| *at < NOW), "{}", part.name);
            let works = part.condition != Condition::Broken;
            assert_eq!(all.last().map(up), Some(works), "{}", part.name);
            let failures = all.iter().filter(|one| !up(one)).count();
            assert_eq!(failures > 0, !part.outages.is_empty(), "{}", part.name);
        }
    }

    #[test]
    fn the_site_answers_as_the_history_says() {
        assert_eq!(response("shop.localhost:81").0, 200);
        assert_eq!(response("img.localhost:81").0, 503);
        assert_eq!(response("chat.localhost:81"), (200, Duration::ZERO));
    }

    #[test]
    fn the_job_failed_once() {
        let failed =
            reports(NOW).filter(|(_, input)| matches!(input, Input::Report(report) if !report.up));
        assert_eq!((reports(NOW).count(), failed.count()), (30, 1));
    }
}
