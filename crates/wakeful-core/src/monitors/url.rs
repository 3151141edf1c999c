//! The URL of an http monitor: http or https, parsed once by the URL standard;
//! connections use the parsed form. The text is stored as sent and returned
//! unchanged.

use ::url::Url;
use std::fmt;

use crate::Invalid;
use crate::monitors::hostname::Host;
use crate::stored_as_text::stored_as_text;

const MAX_LENGTH: usize = 2_048;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl {
    as_sent: String,
    parsed: Url,
}

impl HttpUrl {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let url = Self::parse_stored(text)?;
        host(&url.parsed)?.check_new().map_err(|why| in_host(&why))?;
        Ok(url)
    }

    /// Like `parse`, without the rules that were added after URLs had been
    /// stored.
    fn parse_stored(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.chars().count() > MAX_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
        }
        // The parser drops tabs and line breaks, so the displayed text would
        // differ from the URL.
        if text.chars().any(char::is_control) {
            return Err(Invalid::new(
                "must not contain tabs, line ends or other control characters",
            ));
        }
        let parsed = Url::parse(text).map_err(|_| not_a_url())?;
        check(&parsed)?;
        Ok(Self { as_sent: text.to_owned(), parsed })
    }

    /// The parsed URL, used to connect and for the request.
    pub fn url(&self) -> &Url {
        &self.parsed
    }

    /// Only the scheme, the host and the port.
    #[must_use]
    pub fn origin(&self) -> Self {
        let origin = self.parsed.origin().ascii_serialization();
        Self::parse_stored(&origin).unwrap_or_else(|_| self.clone())
    }

    pub fn as_str(&self) -> &str {
        &self.as_sent
    }

    pub fn host(&self) -> Option<Host> {
        host(&self.parsed).ok()
    }
}

fn check(url: &Url) -> Result<(), Invalid> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(not_a_url());
    }
    if !url.username().is_empty() || url.password().is_some() {
        // In the URL they would be stored, shown and logged in clear text.
        return Err(Invalid::new(
            "must not contain a user name or password; send them as http.username and http.password",
        ));
    }
    if url.port() == Some(0) {
        return Err(Invalid::new("must have a port from 1 to 65535"));
    }
    host(url).map(drop)
}

fn host(url: &Url) -> Result<Host, Invalid> {
    let host = url.host().ok_or_else(not_a_url)?;
    Host::checked(host.to_owned()).map_err(|why| in_host(&why))
}

fn in_host(why: &Invalid) -> Invalid {
    Invalid(format!("its host {why}"))
}

fn not_a_url() -> Invalid {
    Invalid::new("must be an http or https URL such as https://example.com/path")
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

stored_as_text!(HttpUrl => Self::parse_stored);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_stored_as_sent_and_requested_as_parsed() {
        for (text, parsed) in [
            ("https://example.com", "https://example.com/"),
            (" HTTP://Example.com:80/a?b=c#d ", "http://example.com/a?b=c#d"),
            ("http://127.0.0.1:8080/health", "http://127.0.0.1:8080/health"),
            ("http://0177.1/", "http://127.0.0.1/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
            ("https://bücher.example/ü x", "https://xn--bcher-kva.example/%C3%BC%20x"),
        ] {
            let url = HttpUrl::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
            assert_eq!(url.as_str(), text.trim());
            assert_eq!(url.url().as_str(), parsed);
        }
    }

    #[test]
    fn only_http_urls_of_bounded_length_are_accepted() {
        let long = format!("http://example.com/{}", "a".repeat(MAX_LENGTH));
        let slashes = format!("http://{}", "/".repeat(1 << 20));
        for text in [
            "",
            "example.com",
            "/path",
            "file:///etc/passwd",
            "ftp://example.com/",
            "gopher://example.com/",
            "javascript:alert(1)",
            "http://",
            "http:///",
            "http://user@example.com/",
            "http://user:pw@example.com/",
            "http://:pw@example.com/",
            "http://example.com:0/",
            "http://example.com:65536/",
            "http://example.com:80:80/",
            "http://exa mple.com/",
            "http://example.com/\r\nHost: x",
            "http://exam\tple.com/",
            "http://a..b/",
            "http://-a.example/",
            "http://a.-b.example/",
            "http://`id`.example/",
            "http://256.256.256.256/",
            "http://[::1/",
            &long,
            &slashes,
        ] {
            assert!(HttpUrl::parse(text).is_err(), "{:?}", &text[..text.len().min(60)]);
        }
    }

    #[test]
    fn a_stored_url_is_validated_again() {
        let url = HttpUrl::parse("https://example.com/a").expect("an address");
        let text = serde_json::to_string(&url).expect("serializes");
        assert_eq!(text, "\"https://example.com/a\"");
        assert_eq!(serde_json::from_str::<HttpUrl>(&text).expect("reads"), url);
        assert!(serde_json::from_str::<HttpUrl>("\"file:///etc/passwd\"").is_err());
        assert!(serde_json::from_str::<HttpUrl>("\"http://-a.example/\"").is_ok());
    }
}
