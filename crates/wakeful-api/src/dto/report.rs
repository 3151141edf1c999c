//! The report on a period: as JSON, and as CSV for spreadsheets. `report_page` has the
//! printable page.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::history::period::Period;
use wakeful_core::history::{HistoryStatus, PerStatus};
use wakeful_core::id::MonitorId;
use wakeful_core::named_enum;
use wakeful_core::time::Millis;
use wakeful_engine::{Report, ReportLine, ReportOrder};

use super::csv;
use super::enums::MonitorType;
use super::report_page::Language;
use super::stats::{in_millis, seconds, uptime};

named_enum! {
    #[derive(Clone, Copy)]
    pub(crate) enum Format {
        Json = "json",
        Csv = "csv",
        Html = "html",
    }
}

impl Format {
    pub(crate) fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|format| format.as_str() == text);
        known.copied().ok_or_else(|| Invalid::new("must be json, csv or html"))
    }
}

pub(crate) fn parse_order(text: &str) -> Result<ReportOrder, Invalid> {
    let known = ReportOrder::ALL.iter().find(|order| order.as_str() == text);
    known.copied().ok_or_else(|| Invalid::new("must be name or uptime"))
}

pub(crate) fn parse_language(text: &str) -> Result<Language, Invalid> {
    Language::parse(text).ok_or_else(|| Invalid::new("must be en or de"))
}

#[derive(Serialize, ToSchema)]
#[schema(as = Report)]
pub(crate) struct ReportBody {
    success: bool,
    /// Such as 2026-10; null if `from` and `to` were sent.
    month: Option<String>,
    /// The name given at sign-up, or else the email of the team's first user.
    pub(super) team: String,
    pub(super) tag: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    /// The end of the period, or now if it is not over.
    #[schema(value_type = String, format = DateTime)]
    pub(super) to: Millis,
    pub(super) monitors: Vec<LineBody>,
    pub(super) total: TotalBody,
    #[serde(skip)]
    pub(super) period: Period,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ReportLine)]
pub(super) struct LineBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    pub(super) name: String,
    #[schema(value_type = MonitorType)]
    r#type: &'static str,
    pub(super) target: String,
    tags: Vec<String>,
    /// Time-based, in percent; null without data.
    pub(super) uptime: Option<f64>,
    pub(super) outages: u64,
    /// Seconds.
    pub(super) downtime: u64,
    /// Seconds of maintenance, which count neither as up nor as down.
    pub(super) maintenance: u64,
    /// Seconds.
    pub(super) longest_outage: Option<u64>,
    /// Seconds.
    pub(super) mean_time_to_recover: Option<u64>,
    /// Load time, in milliseconds.
    pub(super) p50: Option<f64>,
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ReportTotal)]
pub(super) struct TotalBody {
    pub(super) monitors: usize,
    /// The up time of all monitors as a share of their up and down time, in percent.
    pub(super) uptime: Option<f64>,
    pub(super) outages: u64,
    /// Seconds.
    pub(super) downtime: u64,
    /// Seconds of maintenance of all monitors.
    pub(super) maintenance: u64,
}

impl ReportBody {
    pub(crate) fn of(report: &Report) -> Self {
        let millis = report.millis();
        Self {
            success: true,
            month: report.period.month().map(|month| month.to_string()),
            team: report.team.clone(),
            tag: report.tag.clone(),
            from: report.period.from,
            to: report.to,
            monitors: report.lines.iter().map(LineBody::of).collect(),
            total: TotalBody {
                monitors: report.lines.len(),
                uptime: uptime(&millis),
                outages: report.outages(),
                downtime: downtime(&millis),
                maintenance: maintenance(&millis),
            },
            period: report.period,
        }
    }

    pub(crate) fn file_name(&self, end: &str) -> String {
        format!("wakeful-{}.{end}", self.period)
    }

    /// A header and one line for each monitor (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let mut text = String::from(
            "monitorid,name,type,target,tags,uptime,outages,downtime,longest_outage,\
             mean_time_to_recover,p50,p95,p99,maintenance\r\n",
        );
        for line in &self.monitors {
            let fields = [
                line.monitorid.to_string(),
                csv::cell(&line.name),
                line.r#type.to_owned(),
                csv::cell(&line.target),
                csv::cell(&line.tags.join(", ")),
                number(line.uptime),
                line.outages.to_string(),
                line.downtime.to_string(),
                number(line.longest_outage),
                number(line.mean_time_to_recover),
                number(line.p50),
                number(line.p95),
                number(line.p99),
                line.maintenance.to_string(),
            ];
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

impl LineBody {
    fn of(line: &ReportLine) -> Self {
        let ReportLine { monitor, tally, outages } = line;
        let percentile = |share| tally.times.percentile(share).map(in_millis);
        Self {
            monitorid: monitor.id,
            name: monitor.name.to_string(),
            r#type: monitor.spec.kind().as_str(),
            target: monitor.spec.target(),
            tags: monitor.tags.iter().map(str::to_owned).collect(),
            uptime: uptime(&tally.millis),
            outages: outages.count,
            downtime: downtime(&tally.millis),
            maintenance: maintenance(&tally.millis),
            longest_outage: outages.longest.map(seconds),
            mean_time_to_recover: outages.mean_time_to_recover.map(seconds),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
        }
    }
}

fn downtime(millis: &PerStatus) -> u64 {
    seconds(millis[HistoryStatus::Down])
}

fn maintenance(millis: &PerStatus) -> u64 {
    seconds(millis[HistoryStatus::Maintenance])
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
