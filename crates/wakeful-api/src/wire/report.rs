//! The report of a month: as JSON, as CSV for a spreadsheet, and as a page that
//! prints well.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::history::{Shares, Standing};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_engine::{Report, ReportLine};

use super::figures::{in_millis, seconds, uptime};

#[derive(Serialize, ToSchema)]
#[schema(as = Report)]
pub(crate) struct ReportBody {
    success: bool,
    /// Such as 2026-10.
    month: String,
    tag: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    /// The end of the month, or now while it lasts.
    #[schema(value_type = String, format = DateTime)]
    to: Millis,
    monitors: Vec<LineBody>,
    total: TotalBody,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ReportLine)]
struct LineBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
    #[schema(value_type = String)]
    r#type: &'static str,
    target: String,
    tags: Vec<String>,
    /// By duration, in percent; null without data.
    uptime: Option<f64>,
    outages: u64,
    /// Seconds.
    downtime: u64,
    /// Seconds.
    longest_outage: Option<u64>,
    /// Seconds.
    mean_time_to_recover: Option<u64>,
    /// Load time, in milliseconds.
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ReportTotal)]
struct TotalBody {
    monitors: usize,
    /// All monitors' up seconds among all their up and down seconds, in percent.
    uptime: Option<f64>,
    outages: u64,
    /// Seconds.
    downtime: u64,
}

impl ReportBody {
    pub(crate) fn of(report: &Report) -> Self {
        let millis = report.millis();
        Self {
            success: true,
            month: report.month.to_string(),
            tag: report.tag.clone(),
            from: report.month.from,
            to: report.to,
            monitors: report.lines.iter().map(LineBody::of).collect(),
            total: TotalBody {
                monitors: report.lines.len(),
                uptime: uptime(&millis),
                outages: report.outages(),
                downtime: downtime(&millis),
            },
        }
    }

    pub(crate) fn file_name(&self, end: &str) -> String {
        format!("wakeful-{}.{end}", self.month)
    }

    /// One line for each monitor, behind the names of the columns (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let mut text = String::from(
            "monitorid,name,type,target,tags,uptime,outages,downtime,longest_outage,\
             mean_time_to_recover,p50,p95,p99\r\n",
        );
        for line in &self.monitors {
            let fields = [
                line.monitorid.to_string(),
                cell(&line.name),
                line.r#type.to_owned(),
                cell(&line.target),
                cell(&line.tags.join(", ")),
                number(line.uptime),
                line.outages.to_string(),
                line.downtime.to_string(),
                number(line.longest_outage),
                number(line.mean_time_to_recover),
                number(line.p50),
                number(line.p95),
                number(line.p99),
            ];
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
        text
    }

    pub(crate) fn html(&self) -> String {
        let rows: String = self.monitors.iter().map(LineBody::row).collect();
        let tag = self.tag.as_deref().map(|tag| format!(" · tag {}", escaped(tag)));
        let TotalBody { monitors, uptime, outages, downtime } = &self.total;
        include_str!("report.html")
            .replace("{month}", &self.month)
            .replace("{from}", &self.from.to_string()[..10])
            .replace("{to}", &self.to.to_string()[..16].replace('T', " "))
            .replace("{monitors}", &monitors.to_string())
            .replace("{uptime}", &percent(*uptime))
            .replace("{outages}", &outages.to_string())
            .replace("{downtime}", &span(Some(*downtime)))
            .replace("{tag}", &tag.unwrap_or_default())
            // Last, so that nothing a person wrote is taken for a place.
            .replace("{rows}", &rows)
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
            longest_outage: outages.longest.map(seconds),
            mean_time_to_recover: outages.mean_time_to_recover.map(seconds),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
        }
    }

    fn row(&self) -> String {
        let millis = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1} ms"))
        };
        let (name, target) = (escaped(&self.name), escaped(&self.target));
        let cells = [
            percent(self.uptime),
            self.outages.to_string(),
            span(Some(self.downtime)),
            span(self.longest_outage),
            span(self.mean_time_to_recover),
            millis(self.p50),
            millis(self.p95),
            millis(self.p99),
        ];
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr><th scope=\"row\">{name}<small>{target}</small></th>{cells}</tr>\n")
    }
}

fn downtime(millis: &Shares) -> u64 {
    seconds(millis[Standing::Down])
}

/// A cell that a spreadsheet takes for text: a sign in front of it would make
/// a formula of what a person named a monitor.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "no data".to_owned(), |value| format!("{value} %"))
}

/// `2 d 3 h`, `3 h 4 min`, `4 min 5 s`, `5 s`.
fn span(seconds: Option<u64>) -> String {
    let Some(seconds) = seconds else { return "–".to_owned() };
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (1.., ..) => format!("{days} d {hours} h"),
        (0, 1.., _) => format!("{hours} h {minutes} min"),
        (0, 0, 1..) => format!("{minutes} min {rest} s"),
        (0, 0, 0) => format!("{rest} s"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_formula_or_a_tag() {
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
        assert_eq!(cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(escaped("<b>&\""), "&lt;b&gt;&amp;&quot;");
    }

    #[test]
    fn spans_are_told_in_two_units() {
        for (seconds, told) in
            [(0, "0 s"), (65, "1 min 5 s"), (3_660, "1 h 1 min"), (180_000, "2 d 2 h")]
        {
            assert_eq!(span(Some(seconds)), told);
        }
        assert_eq!(span(None), "–");
    }
}
