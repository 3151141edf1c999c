//! What nodes tell each other over NATS: letters, sealed under the service's
//! keys, so that whoever runs the bus can neither read nor write them; each is
//! of its moment and counts once, so that nobody can repeat them. They carry
//! and wake; each thing they say can also be found in the store.

use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wakeful_core::id::{NodeId, TeamId};
use wakeful_core::time::Millis;

use super::nats::{Nats, Subscriber};
use super::{Bus, Edit, Event};
use crate::{Engine, random};

/// Where nodes talk. Probes have no business here.
const SUBJECT: &str = "wakeful.nodes";
/// How much may wait to be sent; more is dropped and counted.
const WAITING: usize = 8_192;
/// How much one letter takes.
const LETTER: usize = 200;
/// NATS takes a megabyte; a seal adds little.
const LARGEST: usize = 900_000;
/// How often a node says whose pages are open at it, and how long that holds.
const PAGES_EVERY: Duration = Duration::from_secs(5);
const PAGES_HOLD: Duration = Duration::from_secs(15);
/// How far the clocks of two nodes may be apart, and how long a letter counts.
const CLOCKS: Duration = Duration::from_secs(60);

/// One thing to say.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum News {
    Edited(Edit),
    /// For the pages of a team.
    Event(TeamId, Event),
    /// Pages of these teams are open at the sender.
    Listening(Vec<TeamId>),
    /// A node came, went or gave slots back.
    Round,
    /// Something is asked of the holder of a monitor.
    Asked,
    /// Something that was asked has its answer.
    Answered,
}

/// A letter that does not say when it was written is refused: an older version
/// wrote it, or somebody has kept it. What it said is found in the store.
#[derive(Serialize, Deserialize)]
struct Letter {
    id: Uuid,
    from: NodeId,
    /// The sender's time, in milliseconds.
    at: i64,
    news: Vec<News>,
}

/// The letters that have come, for as long as one of them could be repeated.
#[derive(Default)]
struct Heard {
    lately: HashSet<Uuid>,
    before: HashSet<Uuid>,
    turned: Option<Millis>,
}

impl Heard {
    /// Whether a letter is of this moment, and came for the first time.
    fn is_new(&mut self, id: Uuid, at: Millis, now: Millis) -> bool {
        if Duration::from_millis(now.0.abs_diff(at.0)) > CLOCKS {
            return false;
        }
        // One written a minute ahead of this clock counts for two.
        if now.since(*self.turned.get_or_insert(now)) > 2 * CLOCKS {
            (self.before, self.turned) = (std::mem::take(&mut self.lately), Some(now));
        }
        !self.before.contains(&id) && self.lately.insert(id)
    }
}

/// The way to the other nodes.
pub(super) struct Others {
    nats: Nats,
    outgoing: mpsc::Sender<News>,
    /// Taken by the loop that sends.
    waiting: Mutex<Option<mpsc::Receiver<News>>>,
    /// Teams with pages open at other nodes, and until when that holds.
    pages: Mutex<HashMap<TeamId, Instant>>,
    /// Spares the recorder the lock while there are none.
    any_pages: AtomicBool,
}

impl Others {
    pub(super) fn new(nats: Nats) -> Self {
        let (outgoing, waiting) = mpsc::channel(WAITING);
        Self {
            nats,
            outgoing,
            waiting: Mutex::new(Some(waiting)),
            pages: Mutex::default(),
            any_pages: AtomicBool::new(false),
        }
    }

    pub(super) fn nats(&self) -> &Nats {
        &self.nats
    }

    pub(super) fn say(&self, news: News) {
        if self.nats.is_connected() && self.outgoing.try_send(news).is_err() {
            metrics::counter!("wakeful_bus_dropped_total").increment(1);
        }
    }

    pub(super) fn have_pages_of(&self, team: TeamId) -> bool {
        self.any_pages.load(Ordering::Relaxed)
            && lock(&self.pages).get(&team).is_some_and(|until| Instant::now() < *until)
    }

    fn note_pages(&self, teams: Vec<TeamId>) {
        let mut pages = lock(&self.pages);
        let now = Instant::now();
        pages.retain(|_, until| now < *until);
        pages.extend(teams.into_iter().map(|team| (team, now + PAGES_HOLD)));
        self.any_pages.store(!pages.is_empty(), Ordering::Relaxed);
    }
}

impl Bus {
    /// Tells the other nodes without the loop, which may have ended.
    pub(crate) async fn say_now(&self, news: News, engine: &Engine) {
        if let Some(others) = &self.others {
            send(engine, others, vec![news]).await;
        }
    }
}

/// Carries news to and from the other nodes until told to stop.
pub(crate) async fn run(engine: Engine, shutdown: CancellationToken) {
    let Some(others) = &engine.bus().others else { return };
    let Some(mut waiting) = lock(&others.waiting).take() else { return };
    let Some(mut letters) = others.nats.subscribe(SUBJECT).await else { return };
    let mut connection = others.nats.connection();
    let mut pages = interval(PAGES_EVERY);
    pages.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Vec::new();
    let mut known = Heard::default();
    loop {
        tokio::select! {
            heard = next(&engine, &mut letters, &mut known) => match heard {
                Some(news) => news.into_iter().for_each(|news| take(&engine, others, news)),
                None => break,
            },
            _ = waiting.recv_many(&mut batch, LETTER) => {
                send(&engine, others, std::mem::take(&mut batch)).await;
            }
            _ = pages.tick() => {
                others.note_pages(Vec::new());
                let teams = engine.bus().teams.all();
                if !teams.is_empty() {
                    others.say(News::Listening(teams.into_iter().collect()));
                }
                metrics::gauge!("wakeful_bus_connected")
                    .set(if others.nats.is_connected() { 1.0 } else { 0.0 });
            }
            changed = connection.changed() => {
                if changed.is_err() {
                    break;
                }
                // What was said meanwhile is gone: everybody looks for themselves.
                engine.bus().tell_all(&Event::Missed);
                engine.cluster().signals.round.notify_one();
            }
            () = shutdown.cancelled() => break,
        }
    }
    // The next start of the loop goes on with what waits.
    *lock(&others.waiting) = Some(waiting);
}

/// The next letter of another node; nothing when there will be none.
async fn next(engine: &Engine, letters: &mut Subscriber, known: &mut Heard) -> Option<Vec<News>> {
    loop {
        let message = letters.next().await?;
        let plain = engine.store().open_letter(&message.payload);
        let letter = plain.and_then(|plain| serde_json::from_slice::<Letter>(&plain).ok());
        let Some(letter) = letter else {
            metrics::counter!("wakeful_bus_unreadable_total").increment(1);
            continue;
        };
        if letter.from == engine.cluster().node() {
            continue;
        }
        match known.is_new(letter.id, Millis(letter.at), engine.now()) {
            true => return Some(letter.news),
            false => metrics::counter!("wakeful_bus_repeated_total").increment(1),
        }
    }
}

fn take(engine: &Engine, others: &Others, news: News) {
    let signals = &engine.cluster().signals;
    match news {
        News::Edited(edit) => {
            engine.bus().look_again(edit);
        }
        News::Event(team, event) => engine.bus().teams.tell(team, || event),
        News::Listening(teams) => others.note_pages(teams),
        News::Round => signals.round.notify_one(),
        News::Asked => signals.asked.notify_one(),
        News::Answered => signals.answered.notify_waiters(),
    }
}

async fn send(engine: &Engine, others: &Others, news: Vec<News>) {
    let (id, from) = (Uuid::from_bytes(random::bytes()), engine.cluster().node());
    let letter = Letter { id, from, at: engine.now().0, news: news.clone() };
    let letter = serde_json::to_vec(&letter);
    let letter = letter.expect("news are plain data");
    if letter.len() > LARGEST && news.len() > 1 {
        let (one, other) = news.split_at(news.len() / 2);
        Box::pin(send(engine, others, one.to_vec())).await;
        Box::pin(send(engine, others, other.to_vec())).await;
        return;
    }
    others.nats.publish(SUBJECT.to_owned(), engine.store().seal_letter(&letter)).await;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_counts_within_a_minute_and_once() {
        let mut heard = Heard::default();
        let start = 1_000_000;
        let mut comes = |id: u128, at: i64, now: i64| {
            heard.is_new(Uuid::from_u128(id), Millis(start + at), Millis(start + now))
        };
        assert!(comes(1, 0, 0));
        assert!(!comes(1, 0, 0), "it came already");
        assert!(comes(2, 0, 60_000));
        assert!(!comes(3, 0, 60_001), "it is old");
        assert!(comes(4, 120_001, 60_001), "a clock that runs ahead");
        assert!(!comes(5, 120_002, 60_001));
        // For as long as it could be repeated, it is known.
        for now in (60_001..=180_001).step_by(10_000) {
            assert!(!comes(4, 120_001, now), "{now}");
        }
        assert!(comes(6, 500_000, 500_000));
    }

    #[test]
    fn what_came_long_ago_is_forgotten() {
        let mut heard = Heard::default();
        for minute in 0..60_u32 {
            let now = Millis(i64::from(minute) * 60_000);
            for letter in 0..10_u128 {
                assert!(heard.is_new(Uuid::from_u128(u128::from(minute) * 10 + letter), now, now));
            }
            assert!(heard.lately.len() + heard.before.len() <= 70);
        }
    }
}
