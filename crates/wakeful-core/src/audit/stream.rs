//! Streams: webhooks that receive a team's audit log, in order. The log is the outbox: a stream
//! only has the number of the last entry that its receiver has accepted.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chain::Hash;
use super::diff::{Audited, View};
use super::entry::Entry;
use crate::id::{StreamId, TeamId};
use crate::monitors::spec::HttpUrl;
use crate::notifications::notifier::SigningSecret;
use crate::secret::Secret;
use crate::time::Millis;

pub const MAX_STREAMS_PER_TEAM: u32 = 5;
/// A request has at most this many entries.
pub const MAX_BATCH_ENTRIES: usize = 100;
/// The entries of a request have at most this many bytes in total, unless it has only one.
const MAX_BATCH_BYTES: usize = 512 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub id: StreamId,
    pub team: TeamId,
    pub target: StreamTarget,
    /// The last entry that was delivered, or expired before it could be.
    pub cursor: i64,
    /// Failed attempts since the last success.
    pub attempts: u32,
    pub failing_since: Option<Millis>,
    /// The receiver's last response, or why there was none; empty if it succeeded.
    pub last_error: String,
    /// Nothing is sent while this is set.
    pub disabled_at: Option<Millis>,
    pub created: Millis,
}

/// The receiver of a stream. The path of its URL often contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamTarget {
    pub url: HttpUrl,
    pub secret: SigningSecret,
}

/// A target as it is stored, encrypted.
#[derive(Serialize, Deserialize)]
struct Sealed {
    url: HttpUrl,
    secret: String,
}

impl StreamTarget {
    pub fn sealed_part(&self) -> Secret {
        let sealed = Sealed { url: self.url.clone(), secret: self.secret.expose().to_owned() };
        Secret::new(serde_json::to_string(&sealed).expect("two texts"))
    }

    pub fn from_sealed_part(sealed: &str) -> Option<Self> {
        let Sealed { url, secret } = serde_json::from_str(sealed).ok()?;
        Some(Self { url, secret: SigningSecret::parse(&secret).ok()? })
    }

    /// The scheme and the host, for logs and the audit log.
    pub fn origin(&self) -> String {
        self.url.origin().to_string()
    }
}

impl Audited for Stream {
    fn view(&self) -> View {
        View::default()
            .with("url", self.target.origin())
            .with_secret("url.path", self.target.url.as_str())
            .with_secret("secret", self.target.secret.expose())
            .with("isactive", self.disabled_at.is_none())
    }
}

/// The entries of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub first: i64,
    pub last: i64,
    entries: Vec<Value>,
}

impl Batch {
    /// As many of these entries as fit into one request; `None` if there are none.
    pub fn of<'a>(entries: impl IntoIterator<Item = (&'a Entry, &'a Hash)>) -> Option<Self> {
        let mut batch: Option<Self> = None;
        let mut bytes = 0;
        for (entry, hash) in entries.into_iter().take(MAX_BATCH_ENTRIES) {
            let line = entry.exported(hash);
            bytes += line.to_string().len();
            match &mut batch {
                None => {
                    batch = Some(Self { first: entry.seq, last: entry.seq, entries: vec![line] });
                }
                Some(_) if bytes > MAX_BATCH_BYTES => break,
                Some(batch) => {
                    batch.last = entry.seq;
                    batch.entries.push(line);
                }
            }
        }
        batch
    }

    /// Identifies the request: the same for each attempt to send these entries.
    pub fn id(&self, stream: StreamId) -> String {
        format!("{stream}-{}", self.first)
    }

    pub fn body(&self, team: TeamId, now: Millis) -> String {
        body("audit.recorded", team, &self.entries, now)
    }
}

/// The body of a test.
pub fn test_body(team: TeamId, now: Millis) -> String {
    body("audit.test", team, &[], now)
}

fn body(kind: &str, team: TeamId, entries: &[Value], now: Millis) -> String {
    let data = json!({"groupid": team, "entries": entries});
    json!({"type": kind, "timestamp": now, "data": data}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::tests::entry;
    use crate::notifications::notifier::webhook;

    fn target() -> StreamTarget {
        StreamTarget {
            url: webhook::url("https://siem.example/ingest/t0ken?key=1").unwrap(),
            secret: SigningSecret::issue([7; 32]),
        }
    }

    fn entries(count: i64, name: &str) -> Vec<(Entry, Hash)> {
        let named = |seq| Entry { object_name: name.to_owned(), ..entry(seq) };
        (1..=count).map(|seq| (named(seq), Hash::ZERO)).collect()
    }

    fn batch(entries: &[(Entry, Hash)]) -> Option<Batch> {
        Batch::of(entries.iter().map(|(entry, hash)| (entry, hash)))
    }

    #[test]
    fn a_target_that_is_stored_encrypted_round_trips() {
        let sealed = target().sealed_part();
        assert_eq!(StreamTarget::from_sealed_part(sealed.expose()), Some(target()));
    }

    #[test]
    fn the_audit_log_shows_neither_the_path_nor_the_secret_of_a_stream() {
        let stream = Stream {
            id: StreamId::new(Millis(1), [1; 10]),
            team: TeamId::new(Millis(1), [2; 10]),
            target: target(),
            cursor: 0,
            attempts: 0,
            failing_since: None,
            last_error: String::new(),
            disabled_at: None,
            created: Millis(1),
        };
        let shown = json!(crate::audit::diff(None, Some(&stream.view()))).to_string();
        assert!(shown.contains("https://siem.example"), "{shown}");
        assert!(!shown.contains("t0ken") && !shown.contains("whsec"), "{shown}");
    }

    #[test]
    fn a_batch_has_at_most_100_entries() {
        assert_eq!(batch(&[]), None);
        let batch = batch(&entries(150, "shop")).unwrap();
        assert_eq!((batch.first, batch.last, batch.entries.len()), (1, 100, 100));
    }

    #[test]
    fn a_batch_is_limited_in_bytes_but_has_at_least_one_entry() {
        let team = TeamId::new(Millis(1), [1; 10]);
        let large = entries(100, &"x".repeat(20_000));
        let limited = batch(&large).unwrap();
        assert_eq!(limited.last, 25);
        assert!(limited.body(team, Millis(1)).len() <= MAX_BATCH_BYTES + 1_000);
        let huge = entries(2, &"x".repeat(MAX_BATCH_BYTES));
        assert_eq!(batch(&huge).unwrap().last, 1);
    }

    #[test]
    fn the_id_of_a_batch_depends_on_its_stream_and_its_first_entry() {
        let (one, two) = (StreamId::new(Millis(1), [1; 10]), StreamId::new(Millis(1), [2; 10]));
        let all = entries(3, "shop");
        let (whole, rest) = (batch(&all).unwrap(), batch(&all[1..]).unwrap());
        assert_eq!(whole.id(one), batch(&all).unwrap().id(one));
        assert!(whole.id(one) != whole.id(two) && whole.id(one) != rest.id(one));
        assert!(!whole.id(one).contains('.'), "it separates the parts that are signed");
    }
}
