//! The headers an http check sends: a JSON object as text, or `Name: value`
//! lines. The text is stored as sent; anything that could end a header early is
//! rejected.

use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

use crate::Invalid;
use crate::stored_as_text::stored_as_text;

const MAX_LENGTH: usize = 16_384;
const MAX_HEADERS: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    as_sent: String,
    pairs: Vec<(String, String)>,
}

impl Headers {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
        }
        let pairs =
            if text.trim_start().starts_with('{') { from_object(text)? } else { from_lines(text)? };
        if pairs.len() > MAX_HEADERS {
            return Err(Invalid::new(format!("must have at most {MAX_HEADERS} headers")));
        }
        pairs.iter().try_for_each(|(name, value)| check(name, value))?;
        Ok(Self { as_sent: text.to_owned(), pairs })
    }

    /// Name and value of each header, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn as_str(&self) -> &str {
        &self.as_sent
    }
}

fn from_lines(text: &str) -> Result<Vec<(String, String)>, Invalid> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(|| {
                Invalid::new("must be a JSON object as text, or lines such as Name: value")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

fn from_object(text: &str) -> Result<Vec<(String, String)>, Invalid> {
    let Object(pairs) = serde_json::from_str(text).map_err(|_| {
        Invalid::new("must be a JSON object whose values are texts, numbers or booleans")
    })?;
    Ok(pairs)
}

/// The members of a JSON object in their order, including duplicate names.
struct Object(Vec<(String, String)>);

impl<'de> serde::Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Object, A::Error> {
                let mut pairs = Vec::new();
                while let Some((name, value)) = members.next_entry::<String, Scalar>()? {
                    pairs.push((name, value.into_text()));
                }
                Ok(Object(pairs))
            }
        }

        from.deserialize_map(Members)
    }
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Boolean(bool),
}

impl Scalar {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }
}

fn check(name: &str, value: &str) -> Result<(), Invalid> {
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(Invalid::new("has a header name with characters that names cannot have"));
    }
    if ["content-length", "transfer-encoding"].contains(&name.to_ascii_lowercase().as_str()) {
        // They frame the message: a wrong one could turn a body into a second
        // request.
        return Err(Invalid::new(format!("must not set {name}: it follows from the body")));
    }
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(Invalid::new(format!("has a line end or control character in {name}")));
    }
    Ok(())
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl fmt::Display for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

stored_as_text!(Headers);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_or_lines_give_the_same_headers() {
        for text in [
            r#"{"X-B": "1", "X-A": "two words"}"#,
            " {\"X-B\": 1, \"X-A\": \"two words\"}\n",
            "X-B: 1\nX-A: two words",
            "X-B:1\r\n\r\n  X-A :  two words \r\n",
        ] {
            let headers = Headers::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
            let pairs: Vec<_> = headers.iter().collect();
            assert_eq!(pairs, [("X-B", "1"), ("X-A", "two words")], "{text:?}");
            assert_eq!(headers.as_str(), text);
        }
    }

    #[test]
    fn no_text_and_an_empty_object_are_no_headers() {
        for text in ["", "  \n", "{}"] {
            assert_eq!(Headers::parse(text).expect("headers").iter().count(), 0, "{text:?}");
        }
    }

    #[test]
    fn a_value_may_contain_colons_and_other_scripts() {
        let headers =
            Headers::parse("Referer: https://a.example:1/\nX-Name: Jürgen").expect("headers");
        let pairs: Vec<_> = headers.iter().collect();
        assert_eq!(pairs, [("Referer", "https://a.example:1/"), ("X-Name", "Jürgen")]);
    }

    #[test]
    fn text_that_would_break_out_of_a_header_is_refused() {
        let long = format!("X: {}", "a".repeat(MAX_LENGTH));
        let many = "X: y\n".repeat(MAX_HEADERS + 1);
        for text in [
            "no colon",
            ": no name",
            "two words: x",
            "X: a\rInjected: b",
            "X: a\0b",
            "Umläut: x",
            r#"{"X": "a\r\nInjected: b"}"#,
            r#"{"X": "a\nb"}"#,
            r#"{"X\r\nY": "a"}"#,
            r#"{"": "a"}"#,
            r#"{"X": null}"#,
            r#"{"X": ["a"]}"#,
            r#"{"X": {"a": "b"}}"#,
            r#"{"X": "a""#,
            r#"{"X": "a"} trailing"#,
            "Content-Length: 5",
            "transfer-ENCODING: chunked",
            &long,
            &many,
        ] {
            assert!(Headers::parse(text).is_err(), "{:?}", &text[..text.len().min(60)]);
        }
    }
}
