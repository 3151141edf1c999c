//! Hours of the week, as in quiet hours, on-call layers and routing rules.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::hours::{DailyHours, Day as DayOfWeek, MAX_SPANS, TimeOfDay};

use super::enums::Day;
use super::fields::Fields;

/// The same hours on some days. If `from` is later than `to`, they cross midnight and belong to
/// the day they begin on.
#[derive(Serialize, ToSchema)]
#[schema(as = Hours)]
pub(crate) struct HoursBody {
    /// Empty: every day.
    #[schema(value_type = Vec<Day>)]
    days: Vec<&'static str>,
    /// A local time such as 22:00.
    from: String,
    /// A local time such as 06:00; 24:00 is the end of the day.
    to: String,
}

impl HoursBody {
    pub(super) fn of(hours: &DailyHours) -> Self {
        Self {
            days: hours.days.iter().map(|day| day.as_str()).collect(),
            from: hours.from.to_string(),
            to: hours.to.to_string(),
        }
    }
}

/// The same hours on some days.
#[derive(ToSchema)]
#[schema(as = SaveHours)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveHours {
    /// Omitted or empty: every day.
    #[schema(value_type = Option<Vec<Day>>)]
    days: (),
    #[schema(pattern = "^[0-2][0-9]:[0-5][0-9]$")]
    from: String,
    #[schema(pattern = "^[0-2][0-9]:[0-5][0-9]$")]
    to: String,
}

/// The hours in a field; `None` if they were omitted or are invalid.
pub(super) fn hours(fields: &mut Fields, field: &str) -> Option<Vec<DailyHours>> {
    fields.optional_objects(field, MAX_SPANS, |fields| {
        let days = fields.optional_items("days", None).unwrap_or_default();
        let days = days.iter().map(|day| day.trim()).filter(|day| !day.is_empty());
        let days: Result<Vec<DayOfWeek>, Invalid> = days.map(DayOfWeek::parse).collect();
        let days = fields.accept("days", days);
        let from = fields.parse("from", TimeOfDay::parse);
        let to = fields.parse("to", TimeOfDay::parse);
        let hours = DailyHours::new(days?, from?, to?);
        fields.accept("to", hours)
    })
}
