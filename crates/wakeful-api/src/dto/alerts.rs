//! Alerts as they are returned, and what users do with them.

use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;
use wakeful_core::Invalid;
use wakeful_core::action_link::{self, LinkAction as LinkActionName};
use wakeful_core::alerting::order::Action;
use wakeful_core::alerting::state::{self, Suppressed};
use wakeful_core::alerting::step::NoteKind;
use wakeful_core::evidence::EvidenceRecord;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, NotifierId, PolicyId, UserId};
use wakeful_core::notifications::event;
use wakeful_core::reason;
use wakeful_core::severity::Severity as SeverityName;
use wakeful_core::time::Millis;
use wakeful_engine::{
    AlertsChanged, Delivery, LinkOrder, LinkedAlert, ListedAlert, NextStep, SkipReason,
    SkippedAlert, TimelineEntry,
};

use super::enums::{
    AlertKind, AlertStatus, DeliveryState, ErrorCode, EventType, LinkAction, Reason, Severity,
    SuppressionReason, TimelineKind,
};
use super::evidence::EvidenceRecordBody;
use super::fields::{Fields, FromFields};
use super::notifiers::RecipientsBody;
use crate::error;

/// Characters of a comment.
const MAX_COMMENT: usize = 4_000;
/// Characters of a name that somebody enters.
const MAX_NAME: usize = 255;
/// Alerts of one call.
const MAX_IDS: usize = 500;
const MIN_SNOOZE: Duration = Duration::from_secs(60);
const MAX_SNOOZE: Duration = Duration::from_secs(30 * 86_400);

/// Acknowledges or resolves an alert.
#[derive(ToSchema)]
pub(crate) struct AlertComment {
    #[schema(max_length = 4000)]
    pub(crate) comment: Option<String>,
}

impl FromFields for AlertComment {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { comment: fields.optional_short_text("comment", MAX_COMMENT) })
    }
}

/// Snoozes an alert; `until` or `seconds` is required.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SnoozeAlert {
    /// A minute to 30 days from now.
    #[schema(format = DateTime)]
    until: Option<String>,
    #[schema(minimum = 60, maximum = 2592000)]
    seconds: Option<u32>,
    #[schema(max_length = 4000)]
    comment: Option<String>,
}

/// The order to snooze.
pub(crate) fn snooze(fields: &mut Fields, now: Millis) -> Option<Action> {
    let comment = fields.optional_short_text("comment", MAX_COMMENT).unwrap_or_default();
    if fields.has("until") == fields.has("seconds") {
        fields.refuse("seconds", "or until is required, but not both");
        return None;
    }
    let until = if fields.has("seconds") {
        fields.optional_number("seconds", snooze_span).map(|span| now.after(span))
    } else {
        fields.optional("until", |text| {
            let until = Millis::parse(text)
                .ok_or_else(|| Invalid::new("must be a time such as 2026-11-15T09:30:00Z"))?;
            let is_allowed = until >= now.after(MIN_SNOOZE) && until <= now.after(MAX_SNOOZE);
            is_allowed.then_some(until).ok_or_else(|| Invalid::new(SNOOZE_RANGE))
        })
    };
    Some(Action::Snooze { until: until?, comment })
}

const SNOOZE_RANGE: &str = "must be a minute to 30 days from now";

fn snooze_span(seconds: u64) -> Result<Duration, Invalid> {
    let span = Duration::from_secs(seconds);
    let is_allowed = (MIN_SNOOZE..=MAX_SNOOZE).contains(&span);
    is_allowed.then_some(span).ok_or_else(|| Invalid::new("must be 60 to 2592000"))
}

/// Assigns an alert.
#[derive(ToSchema)]
pub(crate) struct AssignAlert {
    /// A member of the team; empty or null for nobody.
    #[schema(value_type = Option<String>)]
    pub(crate) userid: Option<UserId>,
}

impl FromFields for AssignAlert {
    fn read(fields: &mut Fields) -> Option<Self> {
        let text = fields.optional_text("userid").filter(|text| !text.is_empty());
        let userid = text.and_then(|text| {
            let id = UserId::parse(&text);
            fields.accept("userid", id.ok_or_else(|| Invalid::new("must be a member of the team")))
        });
        Some(Self { userid })
    }
}

/// Comments on an alert.
#[derive(ToSchema)]
pub(crate) struct CommentAlert {
    #[schema(max_length = 4000, min_length = 1, pattern = r"\S")]
    pub(crate) text: String,
}

impl FromFields for CommentAlert {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { text: fields.short_text("text", MAX_COMMENT)? })
    }
}

/// Sets the severity of an open alert.
#[derive(ToSchema)]
pub(crate) struct SetSeverity {
    #[schema(value_type = Severity)]
    pub(crate) severity: SeverityName,
}

impl FromFields for SetSeverity {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { severity: fields.parse("severity", SeverityName::parse)? })
    }
}

/// Acknowledges or resolves several alerts.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AlertsComment {
    #[schema(min_items = 1, max_items = 500)]
    alertids: Vec<String>,
    #[schema(max_length = 4000)]
    comment: Option<String>,
}

/// Snoozes several alerts; `until` or `seconds` is required.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SnoozeAlerts {
    #[schema(min_items = 1, max_items = 500)]
    alertids: Vec<String>,
    /// A minute to 30 days from now.
    #[schema(format = DateTime)]
    until: Option<String>,
    #[schema(minimum = 60, maximum = 2592000)]
    seconds: Option<u32>,
    #[schema(max_length = 4000)]
    comment: Option<String>,
}

/// The alerts of a call for several, as they were sent.
pub(crate) fn alert_ids(fields: &mut Fields) -> Option<Vec<String>> {
    if !fields.has("alertids") {
        fields.refuse("alertids", "is required");
        return None;
    }
    fields.texts("alertids", MAX_IDS)
}

pub(crate) fn comment(fields: &mut Fields) -> String {
    fields.optional_short_text("comment", MAX_COMMENT).unwrap_or_default()
}

/// The outcome of an action on several alerts.
#[derive(Serialize, ToSchema)]
#[schema(as = AlertsChanged)]
pub(crate) struct AlertsChangedBody {
    success: bool,
    /// How many alerts are as requested now.
    done: usize,
    /// Alerts for which it was not possible.
    skipped: Vec<SkippedBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SkippedAlert)]
pub(crate) struct SkippedBody {
    alertid: String,
    #[schema(value_type = ErrorCode)]
    code: &'static str,
}

impl AlertsChangedBody {
    /// `unknown` are those that are not ids.
    pub(crate) fn of(changed: AlertsChanged, unknown: Vec<String>) -> Self {
        let skipped = changed.skipped.into_iter().map(|SkippedAlert { alert, error }| {
            let code = match error {
                SkipReason::NotFound => error::ErrorCode::NotFound,
                SkipReason::Over => error::ErrorCode::AlertOver,
                SkipReason::Full => error::ErrorCode::LimitReached,
            };
            SkippedBody { alertid: alert.to_string(), code: code.as_str() }
        });
        let code = error::ErrorCode::NotFound.as_str();
        let unknown = unknown.into_iter().map(|alertid| SkippedBody { alertid, code });
        Self { success: true, done: changed.done, skipped: skipped.chain(unknown).collect() }
    }
}

/// What to do through an action link.
#[derive(ToSchema)]
pub(crate) struct ActByLink {
    #[schema(value_type = LinkAction)]
    action: LinkActionName,
    /// For snooze: for how long.
    #[schema(minimum = 60, maximum = 86400)]
    seconds: Option<u32>,
    /// The comment; required for comment.
    #[schema(max_length = 4000)]
    text: Option<String>,
    /// Who acts; required if the link was sent to a channel.
    #[schema(max_length = 255)]
    name: Option<String>,
}

impl FromFields for ActByLink {
    fn read(fields: &mut Fields) -> Option<Self> {
        let action = fields.parse("action", LinkActionName::parse);
        let seconds = fields.optional_number("seconds", |seconds| {
            let max = action_link::MAX_SNOOZE.as_secs();
            let allowed = u32::try_from(seconds).ok().filter(|_| (60..=max).contains(&seconds));
            allowed.ok_or_else(|| Invalid::new("must be 60 to 86400"))
        });
        let is_snooze = action == Some(LinkActionName::Snooze);
        if is_snooze && !fields.has("seconds") {
            fields.refuse("seconds", "is required");
        }
        let text = fields.optional_short_text("text", MAX_COMMENT);
        if action == Some(LinkActionName::Comment) && !fields.is_filled("text") {
            fields.refuse("text", "is required");
        }
        let name = fields.optional_short_text("name", MAX_NAME);
        Some(Self { action: action?, seconds, text, name })
    }
}

impl From<ActByLink> for LinkOrder {
    fn from(dto: ActByLink) -> Self {
        let ActByLink { action, seconds, text, name } = dto;
        let (text, name) = (text.unwrap_or_default(), name.unwrap_or_default());
        Self { action, seconds: seconds.map(u64::from), text, name }
    }
}

/// What Pushover reports when an emergency is acknowledged; it sends more fields.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PushoverCallback {
    /// 1.
    acknowledged: String,
    receipt: Option<String>,
    acknowledged_by: Option<String>,
}

impl FromFields for PushoverCallback {
    fn read(fields: &mut Fields) -> Option<Self> {
        let acknowledged = fields.parse("acknowledged", |text| match text {
            "1" => Ok(text.to_owned()),
            _ => Err(Invalid::new("must be 1")),
        });
        Some(Self { acknowledged: acknowledged?, receipt: None, acknowledged_by: None })
    }
}

/// The key that was pressed in a call; Twilio sends more fields.
#[derive(ToSchema)]
pub(crate) struct PressedKey {
    /// 1 acknowledges.
    #[schema(rename = "Digits")]
    digits: Option<String>,
}

impl PressedKey {
    pub(crate) fn acknowledges(&self) -> bool {
        self.digits.as_deref() == Some("1")
    }
}

impl FromFields for PressedKey {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { digits: fields.optional_text("Digits") })
    }
}

/// The alert of an action link.
#[derive(Serialize, ToSchema)]
pub(crate) struct ActionLinkBody {
    success: bool,
    /// The name of the monitor.
    name: String,
    #[schema(value_type = AlertKind)]
    kind: &'static str,
    #[schema(value_type = Severity)]
    severity: &'static str,
    #[schema(value_type = AlertStatus)]
    status: &'static str,
    cause: String,
    #[schema(value_type = String, format = DateTime)]
    started: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended: Option<Millis>,
    /// Who acknowledged it; null if nobody did.
    acknowledged_by: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    snoozed_until: Option<Millis>,
    /// The person that the link was sent to; null for a channel: then `name` is required to act.
    person: Option<String>,
}

impl ActionLinkBody {
    pub(crate) fn of(linked: LinkedAlert) -> Self {
        let LinkedAlert { alert: listed, person } = linked;
        let (alert, state) = (listed.alert, listed.state);
        Self {
            success: true,
            name: listed.monitor_name,
            kind: alert.kind.as_str(),
            severity: alert.severity.as_str(),
            status: listed.status.as_str(),
            cause: alert.cause,
            started: alert.started,
            ended: alert.ended,
            acknowledged_by: state.acknowledged.map(|one| one.name),
            snoozed_until: state.snoozed_until,
            person,
        }
    }
}

/// One alert.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlertResponse {
    success: bool,
    alert: AlertBody,
}

impl AlertResponse {
    pub(crate) fn of(listed: &ListedAlert) -> Self {
        Self { success: true, alert: AlertBody::of(listed) }
    }
}

/// One alert with its timeline.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlertDetail {
    success: bool,
    alert: AlertBody,
    /// What happened and who did what, oldest first.
    timeline: Vec<TimelineBody>,
    /// What its checks saw, oldest first; retained for 30 days.
    evidence: Vec<EvidenceRecordBody>,
}

impl AlertDetail {
    pub(crate) fn of(
        listed: &ListedAlert,
        timeline: Vec<TimelineEntry>,
        evidence: Vec<EvidenceRecord>,
    ) -> Self {
        let mut entries: Vec<TimelineBody> =
            timeline.into_iter().map(TimelineBody::of_entry).collect();
        let deliveries: Vec<TimelineBody> = listed
            .deliveries
            .iter()
            .map(|one| TimelineBody::of_delivery(one, decided_at(&one.kind, one.created, &entries)))
            .collect();
        entries.extend(deliveries);
        // Stable: entries of the same time stay in their order, and messages follow the decision
        // to send them.
        entries.sort_by_key(|entry| entry.at);
        let evidence = evidence.into_iter().map(EvidenceRecordBody::of).collect();
        Self { success: true, alert: AlertBody::of(listed), timeline: entries, evidence }
    }
}

/// An entry of the timeline.
#[derive(Serialize, ToSchema)]
#[schema(as = TimelineEntry)]
pub(crate) struct TimelineBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    #[schema(value_type = TimelineKind)]
    kind: String,
    text: String,
    #[schema(value_type = Option<String>, format = Uuid)]
    userid: Option<UserId>,
    /// Who did it; empty if nobody did.
    name: String,
    /// web, api, link, webhook, or empty.
    via: String,
    /// For the kind `delivery`.
    delivery: Option<DeliveryBody>,
}

impl TimelineBody {
    fn of_entry(entry: TimelineEntry) -> Self {
        let TimelineEntry { at, kind, text, user: userid, name, via } = entry;
        Self { at, kind, text, userid, name, via, delivery: None }
    }

    fn of_delivery(delivery: &Delivery, at: Millis) -> Self {
        Self {
            at,
            kind: "delivery".to_owned(),
            text: String::new(),
            userid: None,
            name: String::new(),
            via: String::new(),
            delivery: Some(DeliveryBody::of(delivery)),
        }
    }
}

/// When it was decided to send a message: one about a check has the time of the check, which is
/// earlier.
fn decided_at(about: &str, created: Millis, entries: &[TimelineBody]) -> Millis {
    let warnings = [event::CERTIFICATE, event::DOMAIN, event::CHANGED];
    let decision = if event::ENDING_TYPES.contains(&about) {
        NoteKind::Recovered
    } else if event::OPENING_TYPES.contains(&about) || warnings.contains(&about) {
        NoteKind::Notified
    } else {
        return created;
    };
    let mut later = entries.iter().filter(|entry| entry.at >= created);
    later.find(|entry| entry.kind == decision.as_str()).map_or(created, |entry| entry.at)
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AlertList {
    pub(crate) success: bool,
    /// Newest first.
    pub(crate) alerts: Vec<AlertBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Alert)]
pub(crate) struct AlertBody {
    #[schema(value_type = String, format = Uuid)]
    alertid: AlertId,
    monitor: AlertMonitor,
    #[schema(value_type = AlertKind)]
    kind: &'static str,
    #[schema(value_type = Severity)]
    severity: &'static str,
    #[schema(value_type = AlertStatus)]
    status: &'static str,
    cause: String,
    /// Why the first check failed; null if that is not known.
    #[schema(value_type = Option<Reason>)]
    reason: Option<&'static str>,
    /// The time of the first failed check.
    #[schema(value_type = String, format = DateTime)]
    started: Millis,
    /// Null while the alert is open.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended: Option<Millis>,
    /// What withholds its notification; null if nothing does.
    suppressed_by: Option<SuppressionBody>,
    /// The maintenance window that withholds its notification, or did until it was over; null if
    /// none did, and once the alert was sent after the window.
    maintenance: Option<AlertMaintenance>,
    /// When notifications were sent; null if they were not.
    #[schema(value_type = Option<String>, format = DateTime)]
    notified: Option<Millis>,
    acknowledged: Option<AcknowledgedBody>,
    /// No reminders are sent until then.
    #[schema(value_type = Option<String>, format = DateTime)]
    snoozed_until: Option<Millis>,
    /// The member of the team it is assigned to.
    assignee: Option<AssigneeBody>,
    /// The policy that escalates it; null if none does.
    #[schema(value_type = Option<String>, format = Uuid)]
    policyid: Option<PolicyId>,
    /// The step that follows unless somebody responds.
    next_step: Option<NextStepBody>,
    resolved: Option<ResolvedBody>,
    /// The monitors that depend on this one, while it is down; null if there are none.
    affected: Option<AffectedBody>,
    deliveries: Vec<DeliveryBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Affected)]
pub(crate) struct AffectedBody {
    /// Directly or not.
    count: usize,
    /// The first 50 of them.
    names: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Suppression)]
pub(crate) struct SuppressionBody {
    #[schema(value_type = SuppressionReason)]
    reason: &'static str,
    /// The window, the monitor or, for flapping, the alert; null if the caller may not see it.
    #[schema(value_type = Option<String>, format = Uuid)]
    id: Option<Uuid>,
    name: String,
    #[schema(value_type = String, format = DateTime)]
    since: Millis,
    /// Null if its end is not known.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Millis>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AlertMaintenance {
    /// Null if the caller may not see it.
    #[schema(value_type = Option<String>, format = Uuid)]
    maintenanceid: Option<Uuid>,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Acknowledgement)]
pub(crate) struct AcknowledgedBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// Null for somebody who used a link in a channel.
    #[schema(value_type = Option<String>, format = Uuid)]
    userid: Option<UserId>,
    name: String,
    /// web, api, link or webhook.
    via: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Assignee)]
pub(crate) struct AssigneeBody {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    name: String,
}

/// An escalation step that follows.
#[derive(Serialize, ToSchema)]
#[schema(as = NextStep)]
pub(crate) struct NextStepBody {
    /// From 1.
    step: u32,
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// The names of the people and notifiers that it reaches.
    notifies: Vec<String>,
}

impl NextStepBody {
    fn of(next: &NextStep) -> Self {
        let NextStep { step, at, notifies } = next.clone();
        Self { step, at, notifies }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = Resolution)]
pub(crate) struct ResolvedBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    name: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AlertMonitor {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
}

/// The delivery of one event by one notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = Delivery)]
pub(crate) struct DeliveryBody {
    #[schema(value_type = String, format = Uuid)]
    deliveryid: DeliveryId,
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: String,
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
    #[schema(value_type = Option<String>, format = DateTime)]
    next_try: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished: Option<Millis>,
}

impl AlertBody {
    pub(crate) fn of(listed: &ListedAlert) -> Self {
        let (alert, state) = (&listed.alert, &listed.state);
        Self {
            alertid: alert.id,
            monitor: AlertMonitor { monitorid: alert.monitor, name: listed.monitor_name.clone() },
            kind: alert.kind.as_str(),
            severity: alert.severity.as_str(),
            status: listed.status.as_str(),
            cause: alert.cause.clone(),
            reason: alert.reason.map(reason::Reason::as_str),
            started: alert.started,
            ended: alert.ended,
            suppressed_by: state.suppressed.as_ref().filter(|_| !state.closed).map(|by| {
                let Suppressed { reason, id, name, since, until } = by.clone();
                let id = Some(id).filter(|id| !id.is_nil());
                SuppressionBody { reason: reason.as_str(), id, name, since, until }
            }),
            maintenance: state
                .suppressed
                .as_ref()
                .filter(|by| by.reason == state::Reason::Maintenance)
                .map(|by| AlertMaintenance {
                    maintenanceid: Some(by.id).filter(|id| !id.is_nil()),
                    name: by.name.clone(),
                }),
            notified: state.notified,
            acknowledged: state.acknowledged.clone().map(|one| AcknowledgedBody {
                at: one.at,
                userid: one.user,
                name: one.name,
                via: one.via,
            }),
            snoozed_until: state.snoozed_until,
            assignee: listed.assignee.clone().map(|(userid, name)| AssigneeBody { userid, name }),
            policyid: state.escalation.map(|position| position.policy),
            next_step: listed.next_step.as_ref().map(NextStepBody::of),
            resolved: state
                .resolved
                .clone()
                .map(|resolved| ResolvedBody { at: resolved.at, name: resolved.name }),
            affected: listed.affected.as_ref().map(|affected| AffectedBody {
                count: affected.count,
                names: affected.names.clone(),
            }),
            deliveries: listed.deliveries.iter().map(DeliveryBody::of).collect(),
        }
    }
}

impl DeliveryBody {
    fn of(delivery: &Delivery) -> Self {
        Self {
            deliveryid: delivery.id,
            notifierid: delivery.notifier,
            name: delivery.notifier_name.clone(),
            r#type: delivery.kind.clone(),
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            last_answer: delivery.last_answer.clone(),
            recipients: delivery.recipients.clone().map(RecipientsBody::of),
            created: delivery.created,
            next_try: delivery.next_try,
            finished: delivery.finished,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_follow_the_decision_to_send_them() {
        let note = |(kind, at): (NoteKind, i64)| {
            TimelineBody::of_entry(TimelineEntry {
                at: Millis(at),
                kind: kind.as_str().to_owned(),
                text: String::new(),
                user: None,
                name: String::new(),
                via: String::new(),
            })
        };
        let entries = [
            (NoteKind::Opened, 12),
            (NoteKind::Notified, 13),
            (NoteKind::Escalated, 20),
            (NoteKind::Recovered, 32),
        ];
        let entries = entries.map(note);
        for (about, created, at) in [
            (event::DOWN, 10, 13),
            (event::CERTIFICATE, 10, 13),
            (event::REMINDER, 10, 10),
            // By a step that follows.
            (event::DOWN, 20, 20),
            (event::UP, 30, 32),
            (event::UP, 40, 40),
        ] {
            assert_eq!(
                decided_at(about, Millis(created), &entries),
                Millis(at),
                "{about} {created}"
            );
        }
    }
}
