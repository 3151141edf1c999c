//! The figures of a run, each with its bar, as a table and, when asked for, in
//! docs/performance.md: the words there are kept, the figures replaced.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::picture::{Line, Picture};
use crate::stats::Spread;

/// What stands between these lines is written here.
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

/// One number of monitors in the pictures.
pub struct Point {
    pub monitors: u32,
    pub cost: f64,
    pub floor_cost: f64,
    pub lag: Spread,
    pub floor_lag: Spread,
}

impl Report {
    /// Not more than so many times what somebody else needs.
    pub fn ratio(&mut self, name: &str, seen: f64, whose: &str, theirs: f64, bar: f64) {
        let ratio = seen / theirs;
        let text = format!("{} / {} = {ratio:.2}×", short(seen), short(theirs));
        self.add(name, text, format!("at most {bar}× the {whose}'s"), ratio <= bar);
    }

    pub fn at_least_half(&mut self, name: &str, seen: f64, whose: &str, theirs: f64) {
        let ratio = seen / theirs;
        let text = format!("{} / {} = {ratio:.2}×", short(seen), short(theirs));
        self.add(name, text, format!("at least 0.5× the {whose}'s"), ratio >= 0.5);
    }

    pub fn at_most(&mut self, name: &str, seen: f64, bar: f64) {
        self.add(name, short(seen), format!("at most {}", short(bar)), seen <= bar);
    }

    pub fn at_least(&mut self, name: &str, seen: f64, bar: f64) {
        self.add(name, short(seen), format!("at least {}", short(bar)), seen >= bar);
    }

    pub fn none(&mut self, name: &str, seen: usize) {
        self.add(name, seen.to_string(), "0".to_owned(), seen == 0);
    }

    pub fn none_of(&mut self, name: &str, seen: usize, all: usize) {
        self.add(name, format!("{seen} of {all}"), "0".to_owned(), seen == 0 && all > 0);
    }

    /// A figure that has no bar.
    pub fn measured(&mut self, name: &str, seen: String) {
        self.add(name, seen, "none".to_owned(), true);
    }

    /// A part that broke off: what it measured before counts, the rest is missing.
    pub fn broke_off(&mut self, part: &str, why: &str) {
        let why = why.replace(['|', '\n'], " ");
        self.add(&format!("{part}: whole"), format!("broke off: {why}"), "yes".to_owned(), false);
    }

    fn add(&mut self, name: &str, seen: String, bar: String, met: bool) {
        let word = if met { "met" } else { "MISSED" };
        println!("  {name}: {seen} ({bar}: {word})");
        self.figures.push(Figure { name: name.to_owned(), seen, bar, met });
    }

    /// The figures in Markdown, which reads well on a terminal, too.
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

    /// Renews the figures in the page and the pictures beside it. After some of
    /// the parts, the figures of the others stay.
    pub fn write(mut self, docs: &Path, all: bool) -> Outcome<()> {
        let page = docs.join("performance.md");
        let text = fs::read_to_string(&page)?;
        let (head, rest) = text.split_once(BEGIN).ok_or("the page has no place for figures")?;
        let (old, tail) = rest.split_once(END).ok_or("the place for figures has no end")?;
        if !all {
            self.keep(old);
        }
        fs::write(&page, format!("{head}{BEGIN}\n{}\n{}\n\n{END}{tail}", machine(), self.table()))?;
        if !self.points.is_empty() {
            let pictures = docs.join("pictures");
            fs::create_dir_all(&pictures)?;
            fs::write(pictures.join("cost.svg"), self.cost().draw())?;
            fs::write(pictures.join("lag.svg"), self.lag().draw())?;
        }
        Ok(())
    }

    /// Puts the figures of an earlier table before those of now, each once.
    fn keep(&mut self, table: &str) {
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

    fn cost(&self) -> Picture {
        Picture {
            title: "Processor time per 1,000 checks at 20 s, in seconds",
            lines: vec![
                self.line("Wakeful, results stored", "#0b6e4f", |point| point.cost),
                self.line("paced floor, nothing stored", "#888888", |point| point.floor_cost),
            ],
        }
    }

    fn lag(&self) -> Picture {
        Picture {
            title: "Deviation from the schedule, in milliseconds",
            lines: vec![
                self.line("Wakeful, 99 of 100 checks", "#0b6e4f", |point| point.lag.p99),
                self.line("Wakeful, half of all checks", "#5fb49c", |point| point.lag.p50),
                self.line("paced floor, 99 of 100", "#888888", |point| point.floor_lag.p99),
                self.line("paced floor, half of all", "#bbbbbb", |point| point.floor_lag.p50),
            ],
        }
    }

    fn line(&self, name: &'static str, colour: &'static str, of: fn(&Point) -> f64) -> Line {
        let points =
            self.points.iter().map(|point| (f64::from(point.monitors), of(point))).collect();
        Line { name, colour, points }
    }
}

impl Figure {
    /// A row of a table that was written here; nothing for its head.
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

/// Three digits that count.
fn short(number: f64) -> String {
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
    fn a_bar_is_met_or_it_is_not() {
        let mut report = Report::default();
        report.ratio("cost", 3.0, "loop", 2.0, 1.4);
        report.ratio("cost", 2.8, "loop", 2.0, 1.4);
        report.at_most("time", 20.1, 20.0);
        report.at_least_half("rate", 50.0, "loop", 100.0);
        report.none_of("missed", 1, 9);
        let met: Vec<bool> = report.figures.iter().map(|figure| figure.met).collect();
        assert_eq!(met, [false, true, false, true, false]);
    }

    #[test]
    fn the_words_around_the_figures_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("performance.md");
        fs::write(&page, format!("before\n{BEGIN}old\n{END}\nafter\n")).expect("written");
        let mut report = Report::default();
        report.none_of("missed", 0, 9);
        report.write(folder.path(), true).expect("renewed");
        let text = fs::read_to_string(&page).expect("a page");
        assert!(text.starts_with("before\n") && text.ends_with("\nafter\n"), "{text}");
        assert!(text.contains("| missed ") && !text.contains("old"), "{text}");
    }

    #[test]
    fn after_some_parts_the_figures_of_the_others_stay() {
        let mut before = Report::default();
        before.at_most("time", 1.0, 2.0);
        before.none_of("missed", 3, 9);
        let mut now = Report::default();
        now.none_of("missed", 0, 9);
        now.broke_off("start", "no | port");
        now.keep(&before.table());
        let rows: Vec<(&str, bool)> =
            now.figures.iter().map(|figure| (figure.name.as_str(), figure.met)).collect();
        assert_eq!(rows, [("time", true), ("missed", true), ("start: whole", false)]);
    }
}
