//! Requests to the node that owns a monitor: to accept a report, or to check the monitor now.
//! A request is a row in the store, which the owner finds within a second; the bus makes that
//! faster.

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use uuid::Uuid;
use wakeful_core::cluster::slot::Slot;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::id::{MonitorId, NodeRequestId};
use wakeful_core::push::Signal;
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Input, Report};
use wakeful_store::{NodeRequest, StoreError};

use super::lock;
use crate::bus::NodeMessage;
use crate::monitors::CheckOutcome;
use crate::scheduler::{LoadReason, Pinged};
use crate::{Engine, Error, Result, random};

/// How many requests are served at a time.
const REQUEST_BATCH: u32 = 200;
/// How often the response is looked for without a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A request to the owner of a monitor.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnerRequest {
    Report {
        report: Report,
        payload: Option<Value>,
    },
    Check,
    /// The start or the end of a run, without its output.
    Ping {
        signal: Signal,
        rid: Option<Uuid>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OwnerResponse {
    Done(Box<OwnerAnswer>),
    Refused(Refusal),
}

/// The heartbeat, in the form in which earlier versions expect it, why it is not good, and what
/// the check saw, encrypted: it contains parts of pages.
#[derive(Serialize, Deserialize)]
pub(crate) struct OwnerAnswer {
    #[serde(flatten)]
    pub(crate) heartbeat: Heartbeat,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Reason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    /// A ping was received before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) repeated: bool,
}

impl OwnerAnswer {
    fn of_heartbeat(heartbeat: Heartbeat) -> Self {
        Self { heartbeat, reason: None, evidence: None, repeated: false }
    }

    fn of(engine: &Engine, outcome: CheckOutcome) -> Self {
        let CheckOutcome { heartbeat, reason, evidence } = outcome;
        let sealed = evidence.map(|evidence| {
            let plain = serde_json::to_vec(&evidence).expect("evidence is plain data");
            BASE64.encode(&engine.store().seal_node_message(&plain))
        });
        Self { reason, evidence: sealed, ..Self::of_heartbeat(heartbeat) }
    }

    /// Without the evidence if it cannot be read.
    pub(crate) fn into_outcome(self, engine: &Engine) -> CheckOutcome {
        let evidence = self.evidence.and_then(|sealed| {
            let sealed = BASE64.decode(sealed.as_bytes()).ok()?;
            let plain = engine.store().open_node_message(&sealed)?;
            serde_json::from_slice(&plain).ok()
        });
        CheckOutcome { heartbeat: self.heartbeat, reason: self.reason, evidence }
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Refusal {
    NotFound,
    Inactive,
    #[serde(rename = "passive")]
    PushMonitor,
    TooManyChecks,
    NotRecorded,
}

impl Refusal {
    fn of(error: &Error) -> Self {
        match error {
            Error::NotFound(_) => Self::NotFound,
            Error::Inactive => Self::Inactive,
            Error::PushMonitor => Self::PushMonitor,
            Error::TooManyChecks => Self::TooManyChecks,
            _ => Self::NotRecorded,
        }
    }

    fn error(self) -> Error {
        match self {
            Self::NotFound => Error::NotFound("monitor"),
            Self::Inactive => Error::Inactive,
            Self::PushMonitor => Error::PushMonitor,
            Self::TooManyChecks => Error::TooManyChecks,
            Self::NotRecorded => Error::NotRecorded,
        }
    }
}

impl Engine {
    /// Sends a request to the owner of a monitor and waits for the response; `None` if there
    /// is none in time. The request is still served later.
    pub(crate) async fn request_from_owner(
        &self,
        monitor: MonitorId,
        request: &OwnerRequest,
        wait: Duration,
    ) -> Result<Option<OwnerAnswer>> {
        let id = NodeRequestId::new(self.now(), random::bytes());
        let body = serde_json::to_string(request).expect("a request is plain data");
        self.store().add_node_request(&NodeRequest { id, monitor, body }).await.map_err(
            |error| match error {
                StoreError::Gone => Error::NotFound("monitor"),
                error => error.into(),
            },
        )?;
        self.bus().send_to_nodes(NodeMessage::Asked);
        let signals = &self.cluster().signals;
        // The owner may be this node by now.
        signals.request_added.notify_one();
        let until = Instant::now() + wait;
        while Instant::now() < until {
            let woken = signals.response_added.notified();
            match self.store().node_request_answer(id).await {
                Ok(Some(answer)) => return parse_response(&answer).map(Some),
                Ok(None) => {}
                Err(StoreError::Gone) => return Err(Error::NotFound("monitor")),
                Err(error) => return Err(error.into()),
            }
            let _ = timeout(POLL_INTERVAL, woken).await;
        }
        Ok(None)
    }
}

fn parse_response(answer: &str) -> Result<OwnerAnswer> {
    match serde_json::from_str(answer) {
        Ok(OwnerResponse::Done(answer)) => Ok(*answer),
        Ok(OwnerResponse::Refused(refusal)) => Err(refusal.error()),
        Err(_) => Err(Error::NotRecorded),
    }
}

/// Serves requests for the monitors of these slots, which this node holds.
pub(crate) async fn serve_requests(engine: &Engine, held: &[Slot]) -> Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    for request in engine.store().pending_node_requests(held, REQUEST_BATCH).await? {
        if !lock(&engine.cluster().in_progress).insert(request.id) {
            continue;
        }
        // Reports are judged here, in order; everything slow runs in the background.
        let started = start(engine, &request).await;
        let engine = engine.clone();
        engine.cluster().tasks.clone().spawn(async move {
            let answer = match finish(&engine, request.monitor, started).await {
                Ok(answer) => OwnerResponse::Done(Box::new(answer)),
                Err(error) => OwnerResponse::Refused(Refusal::of(&error)),
            };
            store_response(&engine, request.id, &answer).await;
            lock(&engine.cluster().in_progress).remove(&request.id);
        });
    }
    Ok(())
}

enum Started {
    Judged(Heartbeat, oneshot::Receiver<()>),
    Pinged(Pinged),
    Check,
    Failed(Error),
}

async fn start(engine: &Engine, request: &NodeRequest) -> Started {
    let Ok(body) = serde_json::from_str::<OwnerRequest>(&request.body) else {
        return Started::Failed(Error::NotRecorded);
    };
    if matches!(body, OwnerRequest::Check) {
        return Started::Check;
    }
    let found = match engine.store().monitors_by_id(&[request.monitor]).await {
        Ok(found) => found.into_iter().next(),
        Err(error) => return Started::Failed(error.into()),
    };
    let Some(stored) = found else { return Started::Failed(Error::NotFound("monitor")) };
    if !stored.monitor.isactive {
        return Started::Failed(Error::Inactive);
    }
    engine.scheduler().configure(stored, LoadReason::Resumed);
    let now = engine.now();
    let started = match body {
        OwnerRequest::Check => Some(Started::Check),
        OwnerRequest::Report { report, payload } => {
            let seen = Input::Report(report);
            let judged = engine.scheduler().judge(request.monitor, None, seen, payload, now);
            judged.map(|judged| Started::Judged(judged.heartbeat, judged.recorded))
        }
        OwnerRequest::Ping { signal, rid } => {
            engine.scheduler().ping(request.monitor, signal, rid, now).map(Started::Pinged)
        }
    };
    started.unwrap_or(Started::Failed(Error::NotRecorded))
}

async fn finish(engine: &Engine, monitor: MonitorId, started: Started) -> Result<OwnerAnswer> {
    match started {
        Started::Judged(heartbeat, recorded) => {
            recorded.await.map_err(|_| Error::NotRecorded)?;
            Ok(OwnerAnswer::of_heartbeat(heartbeat))
        }
        Started::Pinged(pinged) => {
            let load_time = pinged.duration();
            let repeated = pinged.recorded().await?;
            let heartbeat = Heartbeat { load_time, ..unknown(engine.now()) };
            Ok(OwnerAnswer { repeated, ..OwnerAnswer::of_heartbeat(heartbeat) })
        }
        Started::Check => Ok(OwnerAnswer::of(engine, engine.check_owned_monitor(monitor).await?)),
        Started::Failed(error) => Err(error),
    }
}

/// In the response to a ping, whose sender needs no heartbeat.
fn unknown(at: Millis) -> Heartbeat {
    Heartbeat {
        at,
        status: Beat::Unknown,
        message: String::new(),
        load_time: None,
        phases: Phases::default(),
        regions: Vec::new(),
        readings: Default::default(),
    }
}

/// A request whose response cannot be stored is served again.
async fn store_response(engine: &Engine, id: NodeRequestId, answer: &OwnerResponse) {
    // The slot was lost: the new owner of the monitor responds.
    if matches!(answer, OwnerResponse::Refused(Refusal::NotRecorded)) {
        return;
    }
    let text = serde_json::to_string(answer).expect("a response is plain data");
    match engine.store().answer_node_request(id, &text).await {
        Ok(()) => {
            engine.cluster().signals.response_added.notify_waiters();
            engine.bus().send_to_nodes(NodeMessage::Answered);
        }
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "storing a response to another node failed, the request is served again");
        }
    }
}
