//! The tags of a monitor: trimmed, without empty ones and duplicates, in the
//! order given.

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::monitor::no_nul;

const MOST: usize = 50;
const LONGEST: usize = 64;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Tags(Vec<String>);

impl Tags {
    /// The tags of a comma-separated text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::of(text.split(','))
    }

    /// The tags of a list, whose elements may hold commas of their own.
    pub fn of<'a>(tags: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let mut kept: Vec<String> = Vec::new();
        for tag in tags.into_iter().map(str::trim).filter(|tag| !tag.is_empty()) {
            if tag.chars().count() > LONGEST {
                return Err(Invalid::new(format!("must be tags of at most {LONGEST} characters")));
            }
            no_nul(tag)?;
            if !kept.iter().any(|known| known == tag) {
                kept.push(tag.to_owned());
            }
            if kept.len() > MOST {
                return Err(Invalid::new(format!("must be at most {MOST} tags")));
            }
        }
        Ok(Self(kept))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl TryFrom<Vec<String>> for Tags {
    type Error = Invalid;

    fn try_from(tags: Vec<String>) -> Result<Self, Invalid> {
        Self::of(tags.iter().map(String::as_str))
    }
}

impl From<Tags> for Vec<String> {
    fn from(tags: Tags) -> Self {
        tags.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<String> {
        Tags::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}")).into()
    }

    #[test]
    fn tags_are_trimmed_and_kept_in_order_without_duplicates() {
        assert_eq!(parsed(" web, eu ,,web,Web, "), ["web", "eu", "Web"]);
        assert!(parsed("").is_empty());
        assert!(parsed(" , ,").is_empty());
    }

    #[test]
    fn a_list_reads_as_the_text_does_but_for_commas_inside() {
        let tags = Tags::of(["web", " eu ", "", "web", "a,b"]).expect("tags");
        assert_eq!(tags.iter().collect::<Vec<_>>(), ["web", "eu", "a,b"]);
        let stored = serde_json::to_string(&tags).expect("serialises");
        assert_eq!(stored, r#"["web","eu","a,b"]"#);
        assert_eq!(serde_json::from_str::<Tags>(&stored).expect("reads"), tags);
    }

    #[test]
    fn tags_are_bounded_in_number_and_length() {
        let fifty: Vec<String> = (0..MOST).map(|number| format!("t{number}")).collect();
        assert_eq!(parsed(&fifty.join(",")).len(), MOST);
        assert_eq!(parsed(&"same,".repeat(1_000)), ["same"]);
        assert!(Tags::parse(&format!("{},one more", fifty.join(","))).is_err());
        assert_eq!(parsed(&"é".repeat(LONGEST)).len(), 1);
        assert!(Tags::parse(&"é".repeat(LONGEST + 1)).is_err());
        assert!(Tags::parse("a\0").is_err());
    }
}
