//! The monitors that a member or an API key is limited to.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::access::MonitorFilter;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::Tags;
use wakeful_engine::FilterDraft;

use super::fields::Fields;

/// Either `tags` or `monitors`.
#[derive(Serialize, ToSchema)]
#[schema(as = MonitorFilter)]
pub(crate) struct MonitorFilterBody {
    /// Monitors with one of these tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    monitors: Option<Vec<MonitorId>>,
}

impl From<MonitorFilter> for MonitorFilterBody {
    fn from(filter: MonitorFilter) -> Self {
        match filter {
            MonitorFilter::Tags(tags) => {
                Self { tags: Some(tags.iter().map(str::to_owned).collect()), monitors: None }
            }
            MonitorFilter::Monitors(monitors) => Self { tags: None, monitors: Some(monitors) },
        }
    }
}

/// Reads a change of the limit of a member: as in `read`, or as it is listed, in the field
/// `monitor_filter`. Null removes it.
pub(crate) fn read_change(fields: &mut Fields) -> FilterDraft {
    let filter = read(fields);
    if !fields.has("monitor_filter") {
        return match filter {
            Some(filter) => FilterDraft::Set(filter),
            None if fields.is_null("monitor_filter") => FilterDraft::Remove,
            None => FilterDraft::Unchanged,
        };
    }
    if filter.is_some() {
        fields.refuse("monitor_filter", "must not be combined with tags or monitors");
    }
    let (filter, limits) = fields.within("monitor_filter", |fields| {
        (read(fields), fields.has("tags") || fields.has("monitors"))
    });
    if !limits && fields.has_object("monitor_filter") {
        // If it were ignored, a new member would see all monitors.
        fields.refuse("monitor_filter", "must have tags or monitors");
    }
    filter.map_or(FilterDraft::Unchanged, FilterDraft::Set)
}

/// Reads the fields `tags` and `monitors`, of which one may be given.
pub(crate) fn read(fields: &mut Fields) -> Option<MonitorFilter> {
    let tags = fields.optional_items("tags", None);
    let monitors = fields.optional_items("monitors", Some("monitorid"));
    match (tags, monitors) {
        (Some(_), Some(_)) => {
            fields.refuse("monitors", "must not be combined with tags");
            None
        }
        (Some(tags), None) => {
            let filter = Tags::of(tags.iter().map(String::as_str)).and_then(MonitorFilter::of_tags);
            fields.accept("tags", filter)
        }
        (None, Some(monitors)) => {
            let ids = monitors.iter().map(|id| {
                MonitorId::parse(id)
                    .ok_or_else(|| Invalid::new("contains monitors that do not exist"))
            });
            let filter = ids.collect::<Result<_, _>>().and_then(MonitorFilter::of_monitors);
            fields.accept("monitors", filter)
        }
        (None, None) => None,
    }
}
