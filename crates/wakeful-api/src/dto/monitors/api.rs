//! Push monitors (type api): when their jobs report, and what their pings mean.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::monitors::spec::{ApiSpec, Spec};
use wakeful_core::monitors::timing;
use wakeful_core::push::{JobSchedule, Keywords, Otherwise, Slug};
use wakeful_core::time::Millis;

use super::SpecFields;
use super::request::sent_span;
use crate::dto::Fields;
use crate::dto::enums::PingOtherwise;

/// How many times of a schedule are returned.
const SHOWN_TIMES: usize = 5;

/// The schedule of a job, and its pings.
#[derive(ToSchema)]
#[schema(as = SaveApi)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveApi {
    /// Cron expressions (five fields, or @daily and so on) or OnCalendar expressions of systemd,
    /// one in each of up to four lines; empty for the plain interval. With a schedule,
    /// `heartbeat_interval` is the longest of the next gaps.
    #[schema(max_length = 403)]
    schedule: Option<String>,
    /// The IANA name of the schedule's time zone; UTC unless set.
    #[schema(max_length = 64)]
    tz: Option<String>,
    /// Seconds that a run may take from its start to its end; 0 for the default, the grace.
    #[schema(minimum = 0, maximum = 31536000)]
    max_runtime: Option<u32>,
    /// The name in ping URLs, unique in the team; empty for none.
    #[schema(max_length = 100)]
    slug: Option<String>,
    /// Whether pings with other methods than POST are ignored.
    post_only: Option<bool>,
    keywords: Option<SaveKeywords>,
}

/// Words that are searched for in the body of a ping, each a comma-separated list.
#[derive(ToSchema)]
#[schema(as = SaveKeywords)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveKeywords {
    #[schema(max_length = 500)]
    start: Option<String>,
    #[schema(max_length = 500)]
    success: Option<String>,
    #[schema(max_length = 500)]
    failure: Option<String>,
    /// What a body without any of them means: ignore (the default) or fail.
    #[schema(value_type = Option<PingOtherwise>)]
    otherwise: (),
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorApi)]
pub(crate) struct ApiBody<'a> {
    /// Empty for the plain interval.
    schedule: &'a str,
    tz: &'a str,
    /// Seconds; null for the default, the grace.
    max_runtime: Option<u64>,
    /// Empty for none.
    slug: &'a str,
    post_only: bool,
    keywords: KeywordsBody<'a>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorKeywords)]
pub(crate) struct KeywordsBody<'a> {
    start: &'a str,
    success: &'a str,
    failure: &'a str,
    #[schema(value_type = PingOtherwise)]
    otherwise: &'static str,
}

/// A schedule to be shown.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ScheduleRequest {
    /// Cron or OnCalendar expressions, as of a monitor.
    #[schema(max_length = 403)]
    schedule: String,
    /// The IANA name of the time zone; UTC unless set.
    #[schema(max_length = 64)]
    tz: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleTimes {
    success: bool,
    /// The next times, at most five.
    #[schema(value_type = Vec<String>, format = DateTime)]
    times: Vec<Millis>,
    /// The name of the time zone.
    tz: String,
}

impl ScheduleTimes {
    pub(crate) fn of(schedule: &JobSchedule, now: Millis) -> Self {
        let (times, tz) = (schedule.upcoming(now, SHOWN_TIMES), schedule.zone().name().to_owned());
        Self { success: true, times, tz }
    }
}

/// A schedule in a request of its own.
pub(crate) fn read_schedule(fields: &mut Fields) -> Option<JobSchedule> {
    let zone = read_zone(fields);
    let text = fields.text("schedule")?;
    let schedule = JobSchedule::parse(&text, zone.unwrap_or_else(Zone::utc));
    fields.accept("schedule", schedule)
}

fn read_zone(fields: &mut Fields) -> Option<Zone> {
    fields.optional("tz", |text| match text.trim() {
        "" => Ok(Zone::utc()),
        name => Zone::parse(name).map_err(|_| wakeful_core::Invalid::new("is not a time zone")),
    })
}

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let old = match old {
        Some(Spec::Api(api)) => api.clone(),
        _ => ApiSpec::default(),
    };
    let grace = fields.optional_number("grace", timing::grace).or(old.grace);
    fields.within("api", |fields| {
        let previous = old.schedule.as_ref().map(|schedule| schedule.zone().clone());
        let zone = read_zone(fields).or(previous).unwrap_or_else(Zone::utc);
        let text = fields.optional_text("schedule");
        let text = text.or_else(|| old.schedule.as_ref().map(|old| old.text().to_owned()));
        let text = text.filter(|text| !text.trim().is_empty());
        let schedule = text.map(|text| JobSchedule::parse(&text, zone));
        let schedule = schedule.and_then(|parsed| fields.accept("schedule", parsed));
        let slug = fields.optional("slug", |text| match text {
            "" => Ok(None),
            text => Slug::parse(text).map(Some),
        });
        let max_runtime = sent_span(fields, "max_runtime", timing::max_runtime);
        let post_only = fields.optional_flag("post_only").unwrap_or(old.post_only);
        Some(Spec::Api(ApiSpec {
            grace,
            schedule: schedule.map(Box::new),
            max_runtime: max_runtime.unwrap_or(old.max_runtime),
            slug: slug.unwrap_or(old.slug),
            post_only,
            keywords: keywords(fields, old.keywords),
        }))
    })
}

fn keywords(fields: &mut Fields, old: Keywords) -> Keywords {
    fields.within("keywords", |fields| {
        let keywords = Keywords {
            start: fields.optional("start", Keywords::list).unwrap_or(old.start),
            success: fields.optional("success", Keywords::list).unwrap_or(old.success),
            failure: fields.optional("failure", Keywords::list).unwrap_or(old.failure),
            otherwise: fields.optional("otherwise", Otherwise::parse).unwrap_or(old.otherwise),
        };
        // What follows from no keywords means nothing.
        if keywords.is_empty() { Keywords::default() } else { keywords }
    })
}

pub(super) fn show(api: &ApiSpec) -> SpecFields<'_> {
    let schedule = api.schedule.as_deref();
    let keywords = KeywordsBody {
        start: &api.keywords.start,
        success: &api.keywords.success,
        failure: &api.keywords.failure,
        otherwise: api.keywords.otherwise.as_str(),
    };
    let body = ApiBody {
        schedule: schedule.map_or("", JobSchedule::text),
        tz: schedule.map_or("UTC", |schedule| schedule.zone().name()),
        max_runtime: api.max_runtime.map(|span| span.as_secs()),
        slug: api.slug.as_ref().map_or("", Slug::as_str),
        post_only: api.post_only,
        keywords,
    };
    SpecFields {
        grace: api.grace.map(|span| span.as_secs()),
        api: Some(body),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    use serde_json::json;
    vec![
        json!({"type": "api", "grace": 7}),
        json!({"type": "api", "api": {"schedule": "30 2 * * *\nMon *-*-* 12:00",
            "tz": "Europe/Berlin", "max_runtime": 600, "slug": "backup_db-1", "post_only": true,
            "keywords": {"success": "done, ok", "otherwise": "fail"}}}),
    ]
}
