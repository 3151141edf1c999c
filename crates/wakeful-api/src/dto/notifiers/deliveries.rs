//! The deliveries of a notifier, and how mail servers responded to the recipients.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId};
use wakeful_core::notifications::recipients::{Recipients, RefusedRecipient};
use wakeful_core::time::Millis;
use wakeful_engine::ListedDelivery;

use crate::dto::enums::{DeliveryState, EventType};

/// How the mail server responded to the recipients of a mail.
#[derive(Serialize, ToSchema)]
#[schema(as = Recipients)]
pub(crate) struct RecipientsBody {
    /// How many recipients have been accepted.
    accepted: usize,
    total: usize,
    /// The recipients that have not been accepted. While the delivery is waiting, those with
    /// a 4xx response are retried.
    refused: Vec<RefusedBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RefusedRecipient)]
pub(crate) struct RefusedBody {
    address: String,
    /// The server's latest response, such as `550 5.1.1 no such user`.
    answer: String,
}

impl RecipientsBody {
    pub(crate) fn of(recipients: Recipients) -> Self {
        let (accepted, total) = (recipients.accepted(), recipients.total);
        let body = |RefusedRecipient { address, answer }| RefusedBody { address, answer };
        Self { accepted, total, refused: recipients.refused.into_iter().map(body).collect() }
    }
}

/// The delivery of a message by a notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierDelivery)]
pub(crate) struct DeliveryItem {
    #[schema(value_type = String, format = Uuid)]
    deliveryid: DeliveryId,
    #[schema(value_type = String, format = Uuid)]
    eventid: EventId,
    #[schema(value_type = Option<String>, format = Uuid)]
    alertid: Option<AlertId>,
    /// Null for an announcement of maintenance or a handover.
    monitor: Option<DeliveryMonitor>,
    #[schema(value_type = EventType)]
    r#type: String,
    #[schema(value_type = DeliveryState)]
    state: &'static str,
    attempts: i64,
    last_answer: String,
    /// For a mail, once its server has responded to the recipients.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    recipients: Option<RecipientsBody>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// Null once the message was delivered or has failed permanently.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_try: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished: Option<Millis>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryMonitor {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
}

impl DeliveryItem {
    pub(crate) fn of(listed: ListedDelivery) -> Self {
        Self {
            deliveryid: listed.id,
            eventid: listed.event,
            alertid: listed.alert,
            monitor: listed.monitor.map(|(monitorid, name)| DeliveryMonitor { monitorid, name }),
            r#type: listed.kind,
            state: listed.state.as_str(),
            attempts: listed.attempts,
            last_answer: listed.last_answer,
            recipients: listed.recipients.map(RecipientsBody::of),
            created: listed.created,
            next_try: listed.next_try,
            finished: listed.finished,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryList {
    pub(crate) success: bool,
    pub(crate) deliveries: Vec<DeliveryItem>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
