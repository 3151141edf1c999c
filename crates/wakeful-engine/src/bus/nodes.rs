//! What nodes tell each other over NATS: letters, sealed under the service's
//! keys, so that whoever runs the bus can neither read nor write them. They
//! carry and wake; each thing they say can also be found in the store.

use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use wakeful_core::id::{NodeId, TeamId};

use super::nats::{Nats, Subscriber};
use super::{Bus, Edit, Event};
use crate::Engine;

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

#[derive(Serialize, Deserialize)]
struct Letter {
    from: NodeId,
    news: Vec<News>,
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
    loop {
        tokio::select! {
            heard = next(&engine, &mut letters) => match heard {
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
async fn next(engine: &Engine, letters: &mut Subscriber) -> Option<Vec<News>> {
    loop {
        let message = letters.next().await?;
        let plain = engine.store().open_letter(&message.payload);
        let letter = plain.and_then(|plain| serde_json::from_slice::<Letter>(&plain).ok());
        match letter {
            Some(letter) if letter.from != engine.cluster().node() => return Some(letter.news),
            Some(_) => {}
            None => metrics::counter!("wakeful_bus_unreadable_total").increment(1),
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
    let from = engine.cluster().node();
    let letter = serde_json::to_vec(&Letter { from, news: news.clone() });
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
