//! Which responses of an http target count as up: codes and ascending ranges
//! within 100..599, as `200-299, 301` or as a list of such items.

use std::fmt;

use crate::Invalid;
use crate::stored_as_text::stored_as_text;

const MAX_RANGES: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCodes(Vec<CodeRange>);

/// One code or a range of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRange {
    first: u16,
    last: u16,
}

impl StatusCodes {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::of([text])
    }

    /// The codes of a list; each item may itself be a comma-separated text.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let ranges: Vec<CodeRange> = items
            .into_iter()
            .flat_map(|text| text.split(','))
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(CodeRange::parse)
            .collect::<Result<_, _>>()?;
        match ranges.len() {
            0 => Err(Invalid::new("must name at least one code, such as 200-299")),
            1..=MAX_RANGES => Ok(Self(ranges)),
            _ => Err(Invalid::new(format!("must have at most {MAX_RANGES} codes and ranges"))),
        }
    }

    pub fn contains(&self, code: u16) -> bool {
        self.0.iter().any(|range| (range.first..=range.last).contains(&code))
    }

    /// Each code or range, in the order given.
    pub fn items(&self) -> &[CodeRange] {
        &self.0
    }
}

impl Default for StatusCodes {
    fn default() -> Self {
        Self(vec![CodeRange { first: 200, last: 299 }])
    }
}

impl CodeRange {
    fn parse(item: &str) -> Result<Self, Invalid> {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        match (code(first), code(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(Invalid::new(
                "must be codes from 100 to 599 or ascending ranges of them, such as 200-299, 301",
            )),
        }
    }
}

fn code(text: &str) -> Option<u16> {
    let text = text.trim();
    let three_digits = text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
    three_digits.then(|| text.parse().ok()).flatten().filter(|code| (100..=599).contains(code))
}

impl fmt::Display for CodeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

impl fmt::Display for StatusCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, item) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

stored_as_text!(StatusCodes, CodeRange);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_ranges_round_trip() {
        for (text, written) in [
            ("200-299", "200-299"),
            ("200-299, 301", "200-299, 301"),
            (" 200 - 299 ,,301, ", "200-299, 301"),
            ("100,599,404-404", "100, 599, 404"),
        ] {
            let codes = StatusCodes::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
            assert_eq!(codes.to_string(), written);
            let items: Vec<String> = codes.items().iter().map(ToString::to_string).collect();
            assert_eq!(StatusCodes::of(items.iter().map(String::as_str)), Ok(codes));
        }
    }

    #[test]
    fn both_ends_of_a_range_belong_to_it() {
        let codes = StatusCodes::parse("200-299,301").expect("codes");
        for (code, inside) in
            [(199, false), (200, true), (299, true), (300, false), (301, true), (302, false)]
        {
            assert_eq!(codes.contains(code), inside, "{code}");
        }
        assert!(StatusCodes::default().contains(204));
    }

    #[test]
    fn an_invalid_code_is_refused() {
        let many = vec!["200"; MAX_RANGES + 1].join(",");
        for text in [
            "",
            " , ",
            "99",
            "600",
            "299-200",
            "200-",
            "-299",
            "-",
            "2xx",
            "200-299-301",
            "+20",
            "0200",
            "200;301",
            "99-200",
            "500-600",
            "٢٠٠",
            &many,
        ] {
            assert!(StatusCodes::parse(text).is_err(), "{text:?}");
        }
    }
}
