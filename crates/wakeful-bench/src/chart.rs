//! Line charts by the number of monitors, as SVG: a logarithmic x axis, and a y
//! axis that starts at zero.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 340.0;
/// Left, right, top and bottom.
const MARGINS: [f64; 4] = [60.0, 30.0, 70.0, 50.0];

pub struct Chart {
    pub title: &'static str,
    pub lines: Vec<Line>,
}

pub struct Line {
    pub name: &'static str,
    pub color: &'static str,
    pub points: Vec<(f64, f64)>,
}

impl Chart {
    pub fn draw(&self) -> String {
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let top = step(all().map(|(_, y)| *y).fold(0.0, f64::max));
        let least = all().map(|(x, _)| *x).fold(f64::MAX, f64::min);
        let most = all().map(|(x, _)| *x).fold(0.0, f64::max);
        let [left, right, above, below] = MARGINS;
        let across = |x: f64| {
            let share = (x / least).ln() / (most / least).ln().max(f64::MIN_POSITIVE);
            left + share.clamp(0.0, 1.0) * (WIDTH - left - right)
        };
        let up = |y: f64| HEIGHT - below - y / top * (HEIGHT - above - below);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>{0}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{left}\" y=\"22\" font-size=\"14\">{0}</text>\n",
            self.title
        );
        for tick in 0..=4 {
            let value = top * f64::from(tick) / 4.0;
            let y = up(value);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - right,
                left - 8.0,
                y + 4.0,
                (value * 1_000.0).round() / 1_000.0
            );
        }
        if let Some(line) = self.lines.first() {
            for (x, _) in &line.points {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{x}</text>",
                    across(*x),
                    HEIGHT - below + 20.0
                );
            }
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">monitors</text>",
            WIDTH / 2.0,
            HEIGHT - 10.0
        );
        for (place, line) in self.lines.iter().enumerate() {
            line.draw(&mut svg, place, across, up);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

impl Line {
    fn draw(
        &self,
        svg: &mut String,
        place: usize,
        across: impl Fn(f64) -> f64,
        up: impl Fn(f64) -> f64,
    ) {
        let Self { name, color, points } = self;
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{:.1},{:.1}", across(*x), up(*y))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2.5\"/>",
            points.join(" ")
        );
        let (x, y) = (MARGINS[0] + (place % 2) as f64 * 240.0, 42.0 + (place / 2) as f64 * 16.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{}\" width=\"18\" height=\"4\" fill=\"{color}\"/>\
             <text x=\"{}\" y=\"{y}\">{name}</text>",
            y - 6.0,
            x + 24.0
        );
    }
}

/// The next round number above: 1, 2, 4 or 8 times a power of ten.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf(most.max(1e-9).log10().floor());
    let round = [1.0, 2.0, 4.0, 8.0, 10.0].map(|digit| digit * power);
    round.into_iter().find(|round| *round >= most).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_number_above_its_values() {
        for (most, end) in [(0.29, 0.4), (1.0, 1.0), (8.5, 10.0), (130.0, 200.0)] {
            assert!((step(most) - end).abs() < 1e-9, "{most}: {}", step(most));
        }
    }

    #[test]
    fn larger_values_are_drawn_higher_and_further_right() {
        let points = vec![(1_000.0, 1.0), (10_000.0, 2.0)];
        let lines = vec![Line { name: "cost", color: "#000000", points }];
        let svg = Chart { title: "cost", lines }.draw();
        assert!(svg.contains("points=\"60.0,180.0 610.0,70.0\""), "{svg}");
    }
}
