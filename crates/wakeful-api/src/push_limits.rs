//! Rate limits for push URLs, in memory. All requests of a client count toward one limit
//! (60,000 per minute by default). Below it, and after the lookup of the token, reports are
//! limited for each monitor, and unknown tokens for each client, so that they do not count
//! against monitors behind the same address.

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

/// Unknown push URLs per minute from one client. Jobs whose monitors were deleted count
/// as well, and a host may have many of those.
const MAX_UNKNOWN_PER_MINUTE: u32 = 600;
/// Reports per minute for one monitor, in a burst or one per second, which is the
/// shortest interval.
const MAX_REPORTS_PER_MINUTE: u32 = 60;
const MINUTE: Duration = Duration::from_secs(60);
/// The size limits of the tables. A table that is full of active counts is cleared.
const MAX_CLIENTS: usize = 10_000;
const MAX_MONITORS: usize = 100_000;
/// After this many reports, the counts of inactive clients are dropped.
const TIDY_INTERVAL: u32 = 10_000;

pub(crate) struct PushLimits {
    clients: DefaultKeyedRateLimiter<ClientNetwork>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    unknown: HashMap<ClientNetwork, Bucket>,
    /// By a prefix of the token's digest; only tokens of existing monitors.
    monitors: HashMap<u64, Bucket>,
    counted: u32,
}

/// A leaky bucket: it holds one minute's worth and drains in a minute. A limiter of `governor`
/// would do the same, but its table has no maximum size.
#[derive(Clone, Copy)]
struct Bucket {
    empty_at: Instant,
}

impl PushLimits {
    pub(crate) fn new(per_minute: NonZeroU32) -> Self {
        let clients = RateLimiter::keyed(Quota::per_minute(per_minute));
        Self { clients, table: Mutex::default() }
    }

    /// Must be called before the token is looked up.
    pub(crate) fn check(&self, client: IpAddr) -> Result<(), ApiError> {
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
        Ok(())
    }

    /// Counts a token that belongs to no monitor.
    pub(crate) fn count_unknown_token(&self, client: IpAddr) -> Result<(), ApiError> {
        let mut table = self.table();
        let bucket = bucket(&mut table.unknown, ClientNetwork::of(client), MAX_CLIENTS);
        bucket.add(MAX_UNKNOWN_PER_MINUTE, "unknown push URLs from this address")
    }

    /// Counts a report for a monitor.
    pub(crate) fn count_report(&self, token: &str) -> Result<(), ApiError> {
        let mut table = self.table();
        let bucket = bucket(&mut table.monitors, key(token), MAX_MONITORS);
        bucket.add(MAX_REPORTS_PER_MINUTE, "reports for this monitor")
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bucket {
    /// Adds one, unless the bucket is full.
    fn add(&mut self, per_minute: u32, what: &str) -> Result<(), ApiError> {
        let now = Instant::now();
        let empty_at = self.empty_at.max(now) + MINUTE / per_minute;
        match empty_at.duration_since(now).checked_sub(MINUTE).filter(|wait| !wait.is_zero()) {
            Some(wait) => Err(too_many(what, wait)),
            None => {
                self.empty_at = empty_at;
                Ok(())
            }
        }
    }
}

fn bucket<K: Hash + Eq>(buckets: &mut HashMap<K, Bucket>, key: K, max: usize) -> &mut Bucket {
    let now = Instant::now();
    if buckets.len() >= max && !buckets.contains_key(&key) {
        buckets.retain(|_, bucket| bucket.empty_at > now);
        if buckets.len() >= max {
            buckets.clear();
        }
    }
    buckets.entry(key).or_insert(Bucket { empty_at: now })
}

/// A token is random, so eight bytes of its digest identify it.
fn key(token: &str) -> u64 {
    let Digest(bytes) = Digest::of(token);
    bytes.iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

fn too_many(what: &str, wait: Duration) -> ApiError {
    ApiError::too_many(what, wait.max(Duration::from_secs(1)))
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
    fn guesses_are_limited_by_client_and_keep_no_monitor_from_reporting() {
        let limits = limits();
        let guesser = client("2001:db8:1:2::1");
        for _ in 0..MAX_UNKNOWN_PER_MINUTE {
            limits.check(guesser).expect("within the limit");
            limits.count_unknown_token(guesser).expect("within the limit");
        }
        assert!(limits.count_unknown_token(guesser).is_err());
        assert!(limits.count_unknown_token(client("2001:db8:1:2::2")).is_err(), "the same network");
        assert!(limits.count_unknown_token(client("2001:db8:1:3::1")).is_ok(), "another network");
        // A monitor behind the guesser's address can still report.
        limits.check(guesser).expect("the token may be looked up");
        limits.count_report("job").expect("a report is not a guess");
    }

    #[test]
    fn one_host_can_report_for_ten_thousand_monitors_and_one_monitor_once_a_second() {
        let limits = limits();
        let host = client("192.0.2.1");
        for round in 0..2 {
            for monitor in 0..10_000 {
                let token = format!("job {monitor}");
                assert!(limits.check(host).is_ok(), "{round} {monitor}");
                assert!(limits.count_report(&token).is_ok(), "{round} {monitor}");
            }
        }
        for _ in 2..MAX_REPORTS_PER_MINUTE {
            limits.count_report("job 1").expect("within the limit");
        }
        assert!(limits.count_report("job 1").is_err());
        assert!(limits.count_report("job 2").is_ok());
    }

    #[test]
    fn the_tables_are_bounded() {
        let limits = limits();
        for count in 0..MAX_CLIENTS + 10 {
            let bits = u128::try_from(count).expect("small") << 64;
            limits.count_unknown_token(IpAddr::V6(bits.into())).expect("the first of its network");
        }
        assert!(limits.table().unknown.len() <= MAX_CLIENTS);
    }
}
