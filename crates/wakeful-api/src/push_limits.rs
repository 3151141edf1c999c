//! How often a monitor's push address may be used, in memory. Guesses are counted
//! apart from reports, so that nobody who guesses can keep a monitor behind the same
//! address from reporting: an address that was good before is not held to the
//! limit on guesses.

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::token::Digest;

use crate::error::ApiError;

/// Unknown push addresses a minute from one client. A job whose monitor was deleted
/// counts as well, and a host may have many of those.
const MAX_UNKNOWN_PER_MINUTE: u32 = 600;
/// Reports a minute of one monitor, as many at once or one each second, which is the
/// shortest interval.
const MAX_REPORTS_PER_MINUTE: u32 = 60;
const MINUTE: Duration = Duration::from_secs(60);
/// More clients or monitors than this are forgotten. What is lost is only a count.
const MAX_CLIENTS: usize = 10_000;
const MAX_MONITORS: usize = 100_000;
/// After so many reports the counts of quiet clients are dropped.
const TIDY_INTERVAL: u32 = 10_000;

pub(crate) struct PushLimits {
    clients: DefaultKeyedRateLimiter<ClientNetwork>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    unknown: HashMap<ClientNetwork, Bucket>,
    /// By the beginning of the token's digest; only tokens of monitors.
    monitors: HashMap<u64, Bucket>,
    counted: u32,
}

/// A leaky bucket: it takes a minute's worth at once and is empty a minute later.
#[derive(Clone, Copy)]
struct Bucket {
    empty_at: Instant,
}

impl PushLimits {
    pub(crate) fn new(per_minute: NonZeroU32) -> Self {
        let clients = RateLimiter::keyed(Quota::per_minute(per_minute));
        Self { clients, table: Mutex::default() }
    }

    /// To be called before the token is looked up.
    pub(crate) fn check(&self, client: IpAddr, token: &str) -> Result<(), ApiError> {
        let client = ClientNetwork::of(client);
        self.clients.check_key(&client).map_err(|until| {
            too_many(
                "reports from this address",
                until.wait_time_from(DefaultClock::default().now()),
            )
        })?;
        let mut table = self.table();
        table.counted = table.counted.wrapping_add(1);
        if table.counted.is_multiple_of(TIDY_INTERVAL) {
            self.clients.retain_recent();
        }
        if table.monitors.contains_key(&key(token)) {
            return Ok(());
        }
        let unknown = table.unknown.get(&client);
        match unknown.and_then(|bucket| bucket.wait(MAX_UNKNOWN_PER_MINUTE, Instant::now())) {
            Some(wait) => Err(too_many("unknown push addresses from this address", wait)),
            None => Ok(()),
        }
    }

    /// The token belongs to no monitor.
    pub(crate) fn unknown(&self, client: IpAddr, token: &str) {
        let mut table = self.table();
        table.monitors.remove(&key(token));
        let bucket = bucket(&mut table.unknown, ClientNetwork::of(client), MAX_CLIENTS);
        bucket.add(MAX_UNKNOWN_PER_MINUTE, Instant::now());
    }

    /// The token belongs to a monitor, which has one more report.
    pub(crate) fn known(&self, token: &str) -> Result<(), ApiError> {
        let mut table = self.table();
        let bucket = bucket(&mut table.monitors, key(token), MAX_MONITORS);
        let now = Instant::now();
        if let Some(wait) = bucket.wait(MAX_REPORTS_PER_MINUTE, now) {
            return Err(too_many("reports of this monitor", wait));
        }
        bucket.add(MAX_REPORTS_PER_MINUTE, now);
        Ok(())
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bucket {
    /// How long until there is room again, when there is none.
    fn wait(&self, per_minute: u32, now: Instant) -> Option<Duration> {
        let level = self.empty_at.saturating_duration_since(now) + MINUTE / per_minute;
        level.checked_sub(MINUTE).filter(|wait| !wait.is_zero())
    }

    fn add(&mut self, per_minute: u32, now: Instant) {
        self.empty_at = self.empty_at.max(now) + MINUTE / per_minute;
    }
}

fn bucket<K: Hash + Eq>(buckets: &mut HashMap<K, Bucket>, key: K, most: usize) -> &mut Bucket {
    let now = Instant::now();
    if buckets.len() >= most && !buckets.contains_key(&key) {
        buckets.retain(|_, bucket| bucket.empty_at > now);
        if buckets.len() >= most {
            buckets.clear();
        }
    }
    buckets.entry(key).or_insert(Bucket { empty_at: now })
}

/// A token is random, so eight bytes of its digest are enough to tell it from others.
fn key(token: &str) -> u64 {
    let Digest(bytes) = Digest::of(token);
    bytes.iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

fn too_many(what: &str, wait: Duration) -> ApiError {
    ApiError::too_many(&format!("too many {what}"), wait.max(Duration::from_secs(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn limits() -> PushLimits {
        PushLimits::new(NonZeroU32::new(60_000).expect("not zero"))
    }

    #[test]
    fn guesses_are_limited_by_client_and_keep_no_known_monitor_from_reporting() {
        let limits = limits();
        let guesser = client("2001:db8:1:2::1");
        limits.check(guesser, "job").expect("nothing was guessed yet");
        limits.known("job").expect("the first report");
        for count in 0..MAX_UNKNOWN_PER_MINUTE {
            let token = format!("guess {count}");
            limits.check(guesser, &token).expect("within the limit");
            limits.unknown(guesser, &token);
        }
        assert!(limits.check(guesser, "another guess").is_err());
        assert!(limits.check(client("2001:db8:1:2::2"), "a guess").is_err(), "the same network");
        assert!(limits.check(client("2001:db8:1:3::1"), "a guess").is_ok(), "another network");
        assert!(limits.check(guesser, "job").is_ok(), "a known monitor");
        // A monitor that is deleted is a guess from then on.
        limits.unknown(guesser, "job");
        assert!(limits.check(guesser, "job").is_err());
    }

    #[test]
    fn one_host_can_report_for_ten_thousand_monitors_and_one_monitor_once_a_second() {
        let limits = limits();
        let host = client("192.0.2.1");
        for round in 0..2 {
            for monitor in 0..10_000 {
                let token = format!("job {monitor}");
                assert!(limits.check(host, &token).is_ok(), "{round} {monitor}");
                assert!(limits.known(&token).is_ok(), "{round} {monitor}");
            }
        }
        for _ in 2..MAX_REPORTS_PER_MINUTE {
            limits.known("job 1").expect("within the limit");
        }
        assert!(limits.known("job 1").is_err());
        assert!(limits.known("job 2").is_ok());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let limits = limits();
        for count in 0..MAX_CLIENTS + 10 {
            let bits = u128::try_from(count).expect("small") << 64;
            limits.unknown(IpAddr::V6(bits.into()), "guess");
        }
        assert!(limits.table().unknown.len() <= MAX_CLIENTS);
    }
}
