//! Changes and deletions of many monitors in one call.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::bulk::BulkChange;
use wakeful_core::monitors::{Interval, Kind, Tags, timing};
use wakeful_engine::{BulkOutcome, MonitorQuery, MonitorSelection};

use super::request::{TextOrList, notifiers, parse_status, sent_span, texts};
use crate::dto::Fields;
use crate::dto::enums::{KnownMonitorType, MonitorStatus};
use crate::error::ApiError;

const MAX_IDS: usize = 1_000;
/// Per list, so that a call that links many monitors stays short.
const MAX_NOTIFIERS: usize = 50;

/// Settings to change in many monitors; omitted ones retain their values. Exactly one of
/// `ids` and `filter` selects the monitors.
#[derive(ToSchema)]
#[schema(as = ChangeMonitors)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ChangeMonitors {
    #[schema(min_items = 1, max_items = 1000)]
    ids: Option<Vec<String>>,
    filter: Option<SelectMonitors>,
    /// Only report what would change; nothing is saved.
    dry_run: Option<bool>,
    isactive: Option<bool>,
    /// Seconds between checks.
    #[schema(minimum = 1, maximum = 2592000)]
    heartbeat_interval: Option<u32>,
    /// The number of re-checks that confirm a failure.
    retries: Option<u16>,
    /// Seconds between re-checks; 0 for the default.
    retry_interval: Option<u32>,
    /// Seconds between reminders while a monitor is down; 0 for none.
    resend_interval: Option<u32>,
    /// Seconds that a check may take, at most the interval; 0 for the default.
    timeout: Option<u32>,
    /// Comma-separated tags, or an array of strings.
    #[schema(value_type = Option<TextOrList>)]
    tags_add: (),
    /// Comma-separated tags, or an array of strings.
    #[schema(value_type = Option<TextOrList>)]
    tags_remove: (),
    /// Up to 50 ids, comma-separated or as an array.
    #[schema(value_type = Option<TextOrList>)]
    notifiers_add: (),
    /// Up to 50 ids, comma-separated or as an array.
    #[schema(value_type = Option<TextOrList>)]
    notifiers_remove: (),
}

/// The monitors to delete: exactly one of `ids` and `filter`.
#[derive(ToSchema)]
#[schema(as = DeleteMonitors)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct DeleteMonitors {
    #[schema(min_items = 1, max_items = 1000)]
    ids: Option<Vec<String>>,
    filter: Option<SelectMonitors>,
    /// Only report how many would be deleted; none is.
    dry_run: Option<bool>,
}

/// Selects all monitors, or those that match every condition. Other fields are rejected.
#[derive(ToSchema)]
#[schema(as = SelectMonitors)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SelectMonitors {
    /// true selects all monitors; it excludes the conditions.
    all: Option<bool>,
    r#type: Option<KnownMonitorType>,
    status: Option<MonitorStatus>,
    tag: Option<String>,
    /// Part of a name, target or tag.
    search: Option<String>,
}

/// The monitors that a request selects; its ids are not parsed yet, because a malformed id is
/// reported like an unknown one.
pub(crate) enum Selection {
    Ids(Vec<String>),
    Filter(MonitorQuery),
}

impl Selection {
    /// `parse` reads an id; duplicates count once.
    pub(crate) fn resolve(
        self,
        parse: impl Fn(&str) -> Result<MonitorId, ApiError>,
    ) -> Result<MonitorSelection, ApiError> {
        match self {
            Self::Filter(filter) => Ok(MonitorSelection::Filter(filter)),
            Self::Ids(ids) => {
                let ids: Result<Vec<MonitorId>, ApiError> =
                    ids.iter().map(|id| parse(id)).collect();
                let mut ids = ids?;
                ids.sort_unstable();
                ids.dedup();
                Ok(MonitorSelection::Ids(ids))
            }
        }
    }
}

pub(crate) fn selection(fields: &mut Fields) -> Option<Selection> {
    match (fields.has("ids"), fields.has("filter")) {
        (true, false) => fields.texts("ids", MAX_IDS).map(Selection::Ids),
        (false, true) => fields.within("filter", filter).map(Selection::Filter),
        _ => {
            fields.refuse("ids", "or filter is required, but not both");
            None
        }
    }
}

/// A misspelled condition must not select more monitors than intended, so unknown fields and
/// empty texts are rejected here.
fn filter(fields: &mut Fields) -> Option<MonitorQuery> {
    const CONDITIONS: [&str; 4] = ["type", "status", "tag", "search"];
    fields.reject_unknown(&[&CONDITIONS[..], &["all"]].concat());
    let all = fields.optional_flag("all").unwrap_or(false);
    if all == CONDITIONS.iter().any(|field| fields.has(field)) {
        fields.refuse("all", "must be true if there are no conditions, and omitted otherwise");
    }
    let mut condition = |field| fields.has(field).then(|| fields.text(field)).flatten();
    let (tag, q) = (condition("tag"), condition("search"));
    Some(MonitorQuery {
        kind: fields.optional("type", Kind::parse),
        status: fields.optional("status", parse_status),
        tag,
        q,
        maintenance: None,
        severity: None,
        members: None,
        limit: None,
        after: None,
    })
}

pub(crate) fn dry_run(fields: &mut Fields) -> bool {
    fields.optional_flag("dry_run").unwrap_or(false)
}

pub(crate) fn change(fields: &mut Fields) -> Option<BulkChange> {
    let change = BulkChange {
        isactive: fields.optional_flag("isactive"),
        heartbeat_interval: fields.optional_number("heartbeat_interval", Interval::new),
        timeout: sent_span(fields, "timeout", timing::timeout),
        retries: fields.optional_number("retries", timing::retries),
        retry_interval: sent_span(fields, "retry_interval", timing::retry_interval),
        resend_interval: sent_span(fields, "resend_interval", timing::resend_interval),
        tags_add: tags(fields, "tags_add"),
        tags_remove: tags(fields, "tags_remove"),
        notifiers_add: notifiers(fields, "notifiers_add", MAX_NOTIFIERS).unwrap_or_default(),
        notifiers_remove: notifiers(fields, "notifiers_remove", MAX_NOTIFIERS).unwrap_or_default(),
    };
    if change.is_empty() {
        fields.refuse("body", "must change at least one setting");
    }
    Some(change)
}

fn tags(fields: &mut Fields, field: &str) -> Tags {
    let tags = fields.optional_items(field, None).unwrap_or_default();
    fields.accept(field, Tags::of(texts(&tags))).unwrap_or_default()
}

/// The outcome of a change of many monitors.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorsChanged {
    success: bool,
    message: String,
    /// The number of selected monitors.
    matched: usize,
    /// How many of them changed; the others had these settings already.
    changed: usize,
}

impl MonitorsChanged {
    pub(crate) fn of(outcome: BulkOutcome, dry_run: bool) -> Self {
        let BulkOutcome { matched, affected: changed } = outcome;
        let message = if dry_run {
            format!("{changed} of {} would change.", monitors(matched))
        } else {
            format!("Changed {}.", monitors(changed))
        };
        Self { success: true, message, matched, changed }
    }
}

/// The outcome of a deletion of many monitors.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorsDeleted {
    success: bool,
    message: String,
    /// The number of selected monitors.
    matched: usize,
    /// How many of them were deleted, or would be.
    deleted: usize,
}

impl MonitorsDeleted {
    pub(crate) fn of(outcome: BulkOutcome, dry_run: bool) -> Self {
        let BulkOutcome { matched, affected: deleted } = outcome;
        let message = if dry_run {
            format!("{} would be deleted.", monitors(deleted))
        } else {
            format!("Deleted {} including history.", monitors(deleted))
        };
        Self { success: true, message, matched, deleted }
    }
}

fn monitors(number: usize) -> String {
    if number == 1 { "1 monitor".to_owned() } else { format!("{number} monitors") }
}
