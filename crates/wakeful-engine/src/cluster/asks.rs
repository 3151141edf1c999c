//! What a node has done by the one that holds a monitor: a report is taken, a
//! check is made now. The question is a row in the store, which whoever holds
//! the monitor finds by itself within a second; the bus makes that quick.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use wakeful_core::chain::Chain;
use wakeful_core::id::{AskId, MonitorId};
use wakeful_core::slot::Slot;
use wakeful_core::verdict::{Heartbeat, Report, Seen};
use wakeful_store::{Ask, StoreError};

use super::lock;
use crate::bus::News;
use crate::watch::Arrival;
use crate::{Engine, Error, Result, random};

/// How many questions are taken up at a time.
const AT_ONCE: u32 = 200;
/// How often the answer is looked for when nobody says that it is there.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is to be done.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wish {
    Report { report: Report, payload: Option<Value> },
    Check,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Done(Heartbeat),
    Refused(Refusal),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Refusal {
    NotFound,
    Inactive,
    Passive,
    TooManyChecks,
    NotRecorded,
}

impl Refusal {
    fn of(error: &Error) -> Self {
        match error {
            Error::NotFound(_) => Self::NotFound,
            Error::Inactive => Self::Inactive,
            Error::Passive => Self::Passive,
            Error::TooManyChecks => Self::TooManyChecks,
            _ => Self::NotRecorded,
        }
    }

    fn error(self) -> Error {
        match self {
            Self::NotFound => Error::NotFound("monitor"),
            Self::Inactive => Error::Inactive,
            Self::Passive => Error::Passive,
            Self::TooManyChecks => Error::TooManyChecks,
            Self::NotRecorded => Error::NotRecorded,
        }
    }
}

impl Engine {
    /// Asks the holder of a monitor and waits for the answer; nothing when it
    /// has not come in time. What was asked is done all the same, later.
    pub(crate) async fn ask_holder(
        &self,
        monitor: MonitorId,
        wish: &Wish,
        patience: Duration,
    ) -> Result<Option<Heartbeat>> {
        let id = AskId::new(self.now(), random::bytes());
        let body = serde_json::to_string(wish).expect("a wish is plain data");
        self.store().add_ask(&Ask { id, monitor, body }).await.map_err(|error| match error {
            StoreError::Gone => Error::NotFound("monitor"),
            error => error.into(),
        })?;
        self.bus().say(News::Asked);
        let signals = &self.cluster().signals;
        // The holder may be this very node by now.
        signals.asked.notify_one();
        let until = Instant::now() + patience;
        while Instant::now() < until {
            let woken = signals.answered.notified();
            match self.store().ask_answer(id).await {
                Ok(Some(answer)) => return understood(&answer).map(Some),
                Ok(None) => {}
                Err(StoreError::Gone) => return Err(Error::NotFound("monitor")),
                Err(error) => return Err(error.into()),
            }
            let _ = timeout(LOOK_EVERY, woken).await;
        }
        Ok(None)
    }
}

fn understood(answer: &str) -> Result<Heartbeat> {
    match serde_json::from_str(answer) {
        Ok(Answer::Done(heartbeat)) => Ok(heartbeat),
        Ok(Answer::Refused(refusal)) => Err(refusal.error()),
        Err(_) => Err(Error::NotRecorded),
    }
}

/// Takes up what is asked about the monitors of these slots, which are held here.
pub(crate) async fn serve(engine: &Engine, held: &[Slot]) -> Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    for ask in engine.store().open_asks(held, AT_ONCE).await? {
        if !lock(&engine.cluster().doing).insert(ask.id) {
            continue;
        }
        // Reports are judged here, in their order; what takes time goes beside.
        let begun = begin(engine, &ask).await;
        let engine = engine.clone();
        engine.cluster().tasks.clone().spawn(async move {
            let answer = match finish(&engine, ask.monitor, begun).await {
                Ok(heartbeat) => Answer::Done(heartbeat),
                Err(error) => Answer::Refused(Refusal::of(&error)),
            };
            tell(&engine, ask.id, &answer).await;
            lock(&engine.cluster().doing).remove(&ask.id);
        });
    }
    Ok(())
}

enum Begun {
    Judged(Heartbeat, oneshot::Receiver<()>),
    Check,
    Failed(Error),
}

async fn begin(engine: &Engine, ask: &Ask) -> Begun {
    let Ok(wish) = serde_json::from_str::<Wish>(&ask.body) else {
        return Begun::Failed(Error::NotRecorded);
    };
    let Wish::Report { report, payload } = wish else { return Begun::Check };
    let found = match engine.store().monitors_by_id(&[ask.monitor]).await {
        Ok(found) => found.into_iter().next(),
        Err(error) => return Begun::Failed(error.into()),
    };
    let Some(stored) = found else { return Begun::Failed(Error::NotFound("monitor")) };
    if !stored.monitor.isactive {
        return Begun::Failed(Error::Inactive);
    }
    engine.watch().configure(stored, Arrival::Resumed);
    let seen = Seen::Report(report);
    match engine.watch().judge(ask.monitor, None, seen, payload, engine.now()) {
        Some((heartbeat, recorded)) => Begun::Judged(heartbeat, recorded),
        None => Begun::Failed(Error::NotRecorded),
    }
}

async fn finish(engine: &Engine, monitor: MonitorId, begun: Begun) -> Result<Heartbeat> {
    match begun {
        Begun::Judged(heartbeat, recorded) => {
            recorded.await.map_err(|_| Error::NotRecorded)?;
            Ok(heartbeat)
        }
        Begun::Check => engine.check_held(monitor).await,
        Begun::Failed(error) => Err(error),
    }
}

/// A question whose answer cannot be kept is taken up again.
async fn tell(engine: &Engine, id: AskId, answer: &Answer) {
    // Lost with its slot: whoever holds the monitor now answers instead.
    if matches!(answer, Answer::Refused(Refusal::NotRecorded)) {
        return;
    }
    let text = serde_json::to_string(answer).expect("an answer is plain data");
    match engine.store().answer_ask(id, &text).await {
        Ok(()) => {
            engine.cluster().signals.answered.notify_waiters();
            engine.bus().say(News::Answered);
        }
        Err(error) => {
            tracing::warn!(error = %Chain(&error), "an answer to another node cannot be kept yet");
        }
    }
}
