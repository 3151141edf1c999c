//! The figures of a run, each with its limit, as a table and, on request, in
//! docs/performance.md: the text there stays, the figures are replaced.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::chart::{Chart, Line};
use crate::stats::Spread;

/// The lines between these marks are written here.
const BEGIN: &str = "<!-- figures: written by make bench -->\n";
const END: &str = "<!-- end of figures -->";

#[derive(Default)]
pub struct Report {
    figures: Vec<Figure>,
    pub points: Vec<Point>,
}

struct Figure {
    name: String,
    seen: String,
    bar: String,
    met: bool,
}

/// One number of monitors in the charts.
pub struct Point {
    pub monitors: u32,
    pub cost: f64,
    pub baseline_cost: f64,
    pub lag: Spread,
    pub baseline_lag: Spread,
}

impl Report {
    /// At most this many times the value of the baseline.
    pub fn ratio(&mut self, name: &str, seen: f64, whose: &str, theirs: f64, bar: f64) {
        let ratio = seen / theirs;
        let text = format!("{} / {} = {ratio:.2}×", three_digits(seen), three_digits(theirs));
        self.add(name, text, format!("at most {bar}× the {whose}'s"), ratio <= bar);
    }

    /// At least this share of the value of the baseline.
    pub fn at_least_share(&mut self, name: &str, seen: f64, whose: &str, theirs: f64, bar: f64) {
        let ratio = seen / theirs;
        let text = format!("{} / {} = {ratio:.2}×", three_digits(seen), three_digits(theirs));
        self.add(name, text, format!("at least {bar}× the {whose}'s"), ratio >= bar);
    }

    pub fn at_least_half(&mut self, name: &str, seen: f64, whose: &str, theirs: f64) {
        self.at_least_share(name, seen, whose, theirs, 0.5);
    }

    pub fn at_most(&mut self, name: &str, seen: f64, bar: f64) {
        self.add(name, three_digits(seen), format!("at most {}", three_digits(bar)), seen <= bar);
    }

    pub fn at_least(&mut self, name: &str, seen: f64, bar: f64) {
        self.add(name, three_digits(seen), format!("at least {}", three_digits(bar)), seen >= bar);
    }

    pub fn expect_none(&mut self, name: &str, seen: usize) {
        self.add(name, seen.to_string(), "0".to_owned(), seen == 0);
    }

    pub fn expect_none_of(&mut self, name: &str, seen: usize, all: usize) {
        self.add(name, format!("{seen} of {all}"), "0".to_owned(), seen == 0 && all > 0);
    }

    /// A figure without a limit.
    pub fn measured(&mut self, name: &str, seen: String) {
        self.add(name, seen, "none".to_owned(), true);
    }

    /// A part that failed: its earlier measurements count, the rest is missing.
    pub fn add_failure(&mut self, part: &str, why: &str) {
        let why = why.replace(['|', '\n'], " ");
        self.add(&format!("{part}: whole"), format!("failed: {why}"), "yes".to_owned(), false);
    }

    fn add(&mut self, name: &str, seen: String, bar: String, met: bool) {
        let word = if met { "met" } else { "MISSED" };
        println!("  {name}: {seen} ({bar}: {word})");
        self.figures.push(Figure { name: name.to_owned(), seen, bar, met });
    }

    /// The figures in Markdown, which is also readable on a terminal.
    pub fn table(&self) -> String {
        let longest = |of: fn(&Figure) -> &str| {
            let lengths = self.figures.iter().map(|figure| of(figure).chars().count());
            lengths.max().unwrap_or(0).max("measured".len())
        };
        let (name, seen) = (longest(|figure| &figure.name), longest(|figure| &figure.seen));
        let bar = longest(|figure| &figure.bar);
        let mut table =
            format!("| {:name$} | {:seen$} | {:bar$} | met |\n", "figure", "measured", "bar");
        let _ = writeln!(table, "|-{:-<name$}-|-{:-<seen$}-|-{:-<bar$}-|-----|", "", "", "");
        for Figure { name: what, seen: came, bar: allowed, met } in &self.figures {
            let met = if *met { "yes" } else { "no" };
            let _ = writeln!(table, "| {what:name$} | {came:seen$} | {allowed:bar$} | {met:3} |");
        }
        table
    }

    /// Updates the figures in the page and the charts beside it. After a run of
    /// some parts only, the figures of the others stay.
    pub fn write(mut self, docs: &Path, all: bool) -> Outcome<()> {
        let page = docs.join("performance.md");
        let text = fs::read_to_string(&page)?;
        let (head, rest) =
            text.split_once(BEGIN).ok_or("the page has no start mark for figures")?;
        let (old, tail) = rest.split_once(END).ok_or("the page has no end mark for figures")?;
        if !all {
            self.merge_earlier(old);
        }
        fs::write(&page, format!("{head}{BEGIN}\n{}\n{}\n\n{END}{tail}", machine(), self.table()))?;
        if !self.points.is_empty() {
            let charts = docs.join("pictures");
            fs::create_dir_all(&charts)?;
            fs::write(charts.join("cost.svg"), self.cost().draw())?;
            fs::write(charts.join("lag.svg"), self.lag().draw())?;
        }
        Ok(())
    }

    /// Adds the figures of an earlier table before the current ones, each once.
    fn merge_earlier(&mut self, table: &str) {
        let new = std::mem::take(&mut self.figures);
        let mut figures: Vec<Figure> = table.lines().filter_map(Figure::parse).collect();
        for figure in new {
            match figures.iter_mut().find(|old| old.name == figure.name) {
                Some(old) => *old = figure,
                None => figures.push(figure),
            }
        }
        self.figures = figures;
    }

    fn cost(&self) -> Chart {
        Chart {
            title: "Processor time per 1,000 checks at 20 s, in seconds",
            lines: vec![
                self.line("Wakeful, results stored", "#0b6e4f", |point| point.cost),
                self.line("paced floor, nothing stored", "#888888", |point| point.baseline_cost),
            ],
        }
    }

    fn lag(&self) -> Chart {
        Chart {
            title: "Deviation from the schedule, in milliseconds",
            lines: vec![
                self.line("Wakeful, 99 of 100 checks", "#0b6e4f", |point| point.lag.p99),
                self.line("Wakeful, half of all checks", "#5fb49c", |point| point.lag.p50),
                self.line("paced floor, 99 of 100", "#888888", |point| point.baseline_lag.p99),
                self.line("paced floor, half of all", "#bbbbbb", |point| point.baseline_lag.p50),
            ],
        }
    }

    fn line(&self, name: &'static str, color: &'static str, of: fn(&Point) -> f64) -> Line {
        let points =
            self.points.iter().map(|point| (f64::from(point.monitors), of(point))).collect();
        Line { name, color, points }
    }
}

impl Figure {
    /// A row of a table that was written here; `None` for its header.
    fn parse(row: &str) -> Option<Self> {
        let cells: Vec<&str> = row.strip_prefix('|')?.split('|').map(str::trim).collect();
        let [name, seen, bar, met, _] = cells[..] else { return None };
        matches!(met, "yes" | "no").then(|| Self {
            name: name.to_owned(),
            seen: seen.to_owned(),
            bar: bar.to_owned(),
            met: met == "yes",
        })
    }
}

/// Three significant digits.
fn three_digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{cores} cores of {model}, Linux {}, SQLite on the machine's own disk.\n",
        kernel.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_meets_its_bar_or_misses_it() {
        let mut report = Report::default();
        report.ratio("cost", 3.0, "loop", 2.0, 1.4);
        report.ratio("cost", 2.8, "loop", 2.0, 1.4);
        report.at_most("time", 20.1, 20.0);
        report.at_least_half("rate", 50.0, "loop", 100.0);
        report.expect_none_of("missed", 1, 9);
        let met: Vec<bool> = report.figures.iter().map(|figure| figure.met).collect();
        assert_eq!(met, [false, true, false, true, false]);
    }

    #[test]
    fn the_text_around_the_figures_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("performance.md");
        fs::write(&page, format!("before\n{BEGIN}old\n{END}\nafter\n")).expect("written");
        let mut report = Report::default();
        report.expect_none_of("missed", 0, 9);
        report.write(folder.path(), true).expect("renewed");
        let text = fs::read_to_string(&page).expect("a page");
        assert!(text.starts_with("before\n") && text.ends_with("\nafter\n"), "{text}");
        assert!(text.contains("| missed ") && !text.contains("old"), "{text}");
    }

    #[test]
    fn after_some_parts_the_figures_of_the_others_stay() {
        let mut before = Report::default();
        before.at_most("time", 1.0, 2.0);
        before.expect_none_of("missed", 3, 9);
        let mut now = Report::default();
        now.expect_none_of("missed", 0, 9);
        now.add_failure("start", "no | port");
        now.merge_earlier(&before.table());
        let rows: Vec<(&str, bool)> =
            now.figures.iter().map(|figure| (figure.name.as_str(), figure.met)).collect();
        assert_eq!(rows, [("time", true), ("missed", true), ("start: whole", false)]);
    }
}
