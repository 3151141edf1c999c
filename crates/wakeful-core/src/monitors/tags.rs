//! The tags of a monitor: trimmed, without empty ones and duplicates, in the
//! order given.

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::monitors::reject_nul;

const MAX_TAGS: usize = 50;
const MAX_TAG_LENGTH: usize = 64;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Tags(Vec<String>);

impl Tags {
    /// The tags of a comma-separated text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::of(text.split(','))
    }

    /// The tags of a list, whose items may contain commas.
    pub fn of<'a>(tags: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let mut unique: Vec<String> = Vec::new();
        for tag in tags.into_iter().map(str::trim).filter(|tag| !tag.is_empty()) {
            if tag.chars().count() > MAX_TAG_LENGTH {
                return Err(Invalid::new(format!(
                    "must be tags of at most {MAX_TAG_LENGTH} characters"
                )));
            }
            reject_nul(tag)?;
            if !unique.iter().any(|known| known == tag) {
                unique.push(tag.to_owned());
            }
            if unique.len() > MAX_TAGS {
                return Err(Invalid::new(format!("must be at most {MAX_TAGS} tags")));
            }
        }
        Ok(Self(unique))
    }

    /// The tags as stored.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        if text == "[]" { Ok(Self::default()) } else { serde_json::from_str(text) }
    }

    /// These tags without those to remove, and with those to add at the end. A tag that is
    /// in both lists is added.
    pub fn changed(&self, add: &Self, remove: &Self) -> Result<Self, Invalid> {
        let remaining = self.iter().filter(|tag| !remove.contains(tag) || add.contains(tag));
        Self::of(remaining.chain(add.iter()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn intersects(&self, other: &Self) -> bool {
        self.iter().any(|tag| other.contains(tag))
    }

    fn contains(&self, tag: &str) -> bool {
        self.iter().any(|known| known == tag)
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
    fn tags_are_trimmed_and_deduplicated_in_order() {
        assert_eq!(parsed(" web, eu ,,web,Web, "), ["web", "eu", "Web"]);
        assert!(parsed("").is_empty());
        assert!(parsed(" , ,").is_empty());
    }

    #[test]
    fn a_list_is_parsed_like_a_text_except_for_commas_inside_its_items() {
        let tags = Tags::of(["web", " eu ", "", "web", "a,b"]).expect("tags");
        assert_eq!(tags.iter().collect::<Vec<_>>(), ["web", "eu", "a,b"]);
        let stored = serde_json::to_string(&tags).expect("serializes");
        assert_eq!(stored, r#"["web","eu","a,b"]"#);
        assert_eq!(Tags::from_json(&stored).expect("reads"), tags);
        assert_eq!(Tags::from_json("[]").expect("reads"), Tags::default());
    }

    #[test]
    fn tags_are_bounded_in_number_and_length() {
        let fifty: Vec<String> = (0..MAX_TAGS).map(|number| format!("t{number}")).collect();
        assert_eq!(parsed(&fifty.join(",")).len(), MAX_TAGS);
        assert_eq!(parsed(&"same,".repeat(1_000)), ["same"]);
        assert!(Tags::parse(&format!("{},one more", fifty.join(","))).is_err());
        assert_eq!(parsed(&"é".repeat(MAX_TAG_LENGTH)).len(), 1);
        assert!(Tags::parse(&"é".repeat(MAX_TAG_LENGTH + 1)).is_err());
        assert!(Tags::parse("a\0").is_err());
    }
}
