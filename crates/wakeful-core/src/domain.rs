//! The registration of a domain, as its registry reports it by RDAP (RFC 9083), and the servers
//! of the registries (RFC 9224).

use serde_json::Value;
use std::collections::HashMap;

use crate::one_line::one_line;
use crate::reason::Reason;
use crate::time::Millis;

/// More than real responses have.
const MAX_STATUSES: usize = 32;
const MAX_STATUS_LENGTH: usize = 64;
const MAX_EVENTS: usize = 64;
const MAX_ZONES: usize = 20_000;

/// The servers of large zones, for when the list of all is unavailable.
const KNOWN_SERVERS: [(&str, &str); 20] = [
    ("app", "https://pubapi.registry.google/rdap/"),
    ("br", "https://rdap.registry.br/"),
    ("ca", "https://rdap.ca.fury.ca/rdap/"),
    ("com", "https://rdap.verisign.com/com/v1/"),
    ("cz", "https://rdap.nic.cz/"),
    ("dev", "https://pubapi.registry.google/rdap/"),
    ("fr", "https://rdap.nic.fr/"),
    ("info", "https://rdap.identitydigital.services/rdap/"),
    ("io", "https://rdap.identitydigital.services/rdap/"),
    ("me", "https://rdap.identitydigital.services/rdap/"),
    ("mobi", "https://rdap.identitydigital.services/rdap/"),
    ("net", "https://rdap.verisign.com/net/v1/"),
    ("nl", "https://rdap.sidn.nl/"),
    ("no", "https://rdap.norid.no/"),
    ("org", "https://rdap.publicinterestregistry.org/rdap/"),
    ("page", "https://pubapi.registry.google/rdap/"),
    ("pl", "https://rdap.dns.pl/"),
    ("pro", "https://rdap.identitydigital.services/rdap/"),
    ("uk", "https://rdap.nominet.uk/uk/"),
    ("xyz", "https://rdap.centralnic.com/xyz/"),
];

/// The registration of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Not every registry publishes it.
    pub expires: Option<Millis>,
    /// In the words of EPP, such as `clientHold`.
    pub statuses: Vec<String>,
}

impl Registration {
    /// Reads the response of a registry; `None` if it is not about a domain.
    pub fn read(body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        if body.get("objectClassName")?.as_str()? != "domain" {
            return None;
        }
        let list = |name: &str| body.get(name).and_then(Value::as_array).cloned();
        let statuses = list("status").unwrap_or_default();
        let statuses = statuses.iter().filter_map(Value::as_str).take(MAX_STATUSES);
        let events = list("events").unwrap_or_default();
        let mut events = events.iter().take(MAX_EVENTS);
        let expires = events.find_map(|event| {
            let is_expiration = event.get("eventAction")?.as_str()? == "expiration";
            is_expiration.then(|| parse_date(event.get("eventDate")?.as_str()?)).flatten()
        });
        Some(Self { expires, statuses: statuses.map(epp_word).collect() })
    }

    /// What the registration is like at `now`, or why the domain is down.
    pub fn judge(&self, now: Millis) -> Result<String, (Reason, String)> {
        let held = ["clientHold", "serverHold", "pendingDelete"];
        if let Some(status) = self.statuses.iter().find(|status| held.contains(&status.as_str())) {
            let message = format!("the registry has taken the domain out of the DNS: {status}");
            return Err((Reason::DomainHold, message));
        }
        let Some(expires) = self.expires else {
            return Ok("registered; the registry does not publish the expiration".to_owned());
        };
        let date: String = expires.to_string().chars().take(10).collect();
        if expires <= now {
            return Err((Reason::DomainExpired, format!("the registration expired on {date}")));
        }
        Ok(format!("registered until {date}"))
    }
}

/// With a time and an offset, without an offset, or only a day.
fn parse_date(text: &str) -> Option<Millis> {
    let text = one_line(text, MAX_STATUS_LENGTH);
    Millis::parse(&text)
        .or_else(|| Millis::parse(&format!("{text}Z")))
        .or_else(|| Millis::parse(&format!("{text}T00:00:00Z")))
}

/// `client hold` is `clientHold` in EPP (RFC 8056).
fn epp_word(status: &str) -> String {
    let status = one_line(status, MAX_STATUS_LENGTH);
    if status.eq_ignore_ascii_case("active") {
        return "ok".to_owned();
    }
    let mut words = status.split_whitespace();
    let first = words.next().unwrap_or_default();
    // It may be in the words of EPP already.
    let mut word = if status.contains(' ') { first.to_lowercase() } else { first.to_owned() };
    for next in words {
        let mut chars = next.chars();
        word.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        word.extend(chars.map(|char| char.to_ascii_lowercase()));
    }
    word
}

/// The servers of the registries, by zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registries(HashMap<String, String>);

impl Registries {
    /// Those of large zones.
    pub fn known() -> Self {
        Self(KNOWN_SERVERS.map(|(zone, url)| (zone.to_owned(), url.to_owned())).into())
    }

    /// Reads the list in the format of IANA; `None` if it has no server.
    pub fn read(body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let mut zones = HashMap::new();
        for service in body.get("services")?.as_array()? {
            let [names, urls] = service.as_array()?.as_slice() else { return None };
            let urls: Vec<&str> = urls.as_array()?.iter().filter_map(Value::as_str).collect();
            let secure = urls.iter().find(|url| url.starts_with("https://"));
            let Some(url) = secure.or(urls.first()) else { continue };
            for name in names.as_array()?.iter().filter_map(Value::as_str) {
                if zones.len() < MAX_ZONES {
                    zones.insert(name.to_ascii_lowercase(), one_line(url, 2_048));
                }
            }
        }
        (!zones.is_empty()).then_some(Self(zones))
    }

    /// The zone of a name, and its server: that of the longest zone.
    pub fn server<'a>(&'a self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let mut zone = name.trim_end_matches('.');
        while let Some((_, rest)) = zone.split_once('.') {
            zone = rest;
            if let Some(url) = self.0.get(zone) {
                return Some((zone, url));
            }
        }
        None
    }
}

/// The names to query: the domain, and then with a label less each, above its zone.
pub fn candidates<'a>(name: &'a str, zone: &str) -> Vec<&'a str> {
    let labels = zone.split('.').filter(|label| !label.is_empty()).count();
    let mut rest = name.trim_end_matches('.');
    let mut all = Vec::new();
    while all.len() < 4 && rest.split('.').count() > labels.max(1) {
        all.push(rest);
        match rest.split_once('.') {
            Some((_, shorter)) => rest = shorter,
            None => break,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000); // 2027-01-15

    fn read(events: &str, status: &str) -> Registration {
        let body = format!(
            r#"{{"objectClassName":"domain","ldhName":"a.example","status":[{status}],"events":[{events}]}}"#
        );
        Registration::read(body.as_bytes()).expect("a registration")
    }

    fn expiring(date: &str) -> String {
        format!(
            r#"{{"eventAction":"registration","eventDate":"2001-01-01T00:00:00Z"}},
               {{"eventAction":"expiration","eventDate":"{date}"}}"#
        )
    }

    #[test]
    fn a_registration_is_up_until_it_expires_or_is_on_hold() {
        for (date, status, expected) in [
            ("2028-03-01T04:00:00Z", r#""active""#, Ok("registered until 2028-03-01")),
            ("2028-03-01T04:00:00.5+02:00", "", Ok("registered until 2028-03-01")),
            ("2028-03-01", "", Ok("registered until 2028-03-01")),
            ("2027-01-01T00:00:00", "", Err(Reason::DomainExpired)),
            ("2028-03-01T04:00:00Z", r#""client hold""#, Err(Reason::DomainHold)),
            ("2028-03-01T04:00:00Z", r#""active","serverHold""#, Err(Reason::DomainHold)),
            ("2028-03-01T04:00:00Z", r#""pending delete""#, Err(Reason::DomainHold)),
            (
                "2028-03-01T04:00:00Z",
                r#""client transfer prohibited""#,
                Ok("registered until 2028-03-01"),
            ),
        ] {
            let judged = read(&expiring(date), status).judge(NOW);
            let judged = judged.as_deref().map_err(|(reason, _)| *reason);
            assert_eq!(judged, expected, "{date} {status}");
        }
        let unknown = read("", "").judge(NOW).expect("up");
        assert_eq!(unknown, "registered; the registry does not publish the expiration");
        for body in ["", "[]", "{}", r#"{"objectClassName":"entity"}"#, "<html>"] {
            assert_eq!(Registration::read(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn statuses_are_the_words_of_epp() {
        let statuses = read("", r#""active","client transfer prohibited","serverHold",1"#).statuses;
        assert_eq!(statuses, ["ok", "clientTransferProhibited", "serverHold"]);
    }

    #[test]
    fn the_longest_zone_has_the_server() {
        let list = br#"{"services":[[["uk"],["http://a.example/","https://b.example/"]],
            [["co.uk"],["https://c.example/"]],[["x"],[]]]}"#;
        let registries = Registries::read(list).expect("servers");
        let of = |name| registries.server(name);
        assert_eq!(of("www.a.uk"), Some(("uk", "https://b.example/")));
        assert_eq!(of("a.co.uk."), Some(("co.uk", "https://c.example/")));
        assert_eq!((of("uk"), of("a.x"), of("a.com")), (None, None, None));
        assert!(Registries::known().server("a.com").is_some());
        for body in ["", "{}", r#"{"services":[]}"#, r#"{"services":[1]}"#] {
            assert_eq!(Registries::read(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn a_name_is_queried_up_to_its_zone() {
        assert_eq!(candidates("www.a.co.uk", "uk"), ["www.a.co.uk", "a.co.uk", "co.uk"]);
        assert_eq!(candidates("a.com.", "com"), ["a.com"]);
        assert_eq!(candidates("f.e.d.c.b.a.com", "com").len(), 4);
        assert_eq!(candidates("b.a.com", ""), ["b.a.com", "a.com"]);
    }
}
