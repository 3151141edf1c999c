//! Parses the values of settings: one method for each kind of value, with a description
//! of the accepted values. An invalid value is recorded and replaced by its default, so
//! that all errors are reported at once.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use ipnet::IpNet;
use toml::Value;
use url::Url;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::monitors::spec::Proxy;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::slug;
use wakeful_engine::SignupMode;

use super::layers::{Entry, Layers, Origin};
use super::problem::Problem;
use super::{AUTOMATIC, DatabaseUrl, Egress, MailSecurity, PaymentProcessor};

/// Secrets, which are never shown.
const SECRET: [&str; 11] = [
    "checks.proxy",
    "cluster.key",
    "probe.key",
    "server.metrics_token",
    "nats.password",
    "nats.token",
    "nats.nkey",
    "secrets.master_key",
    "mail.password",
    "billing.stripe_key",
    "billing.stripe_callback_secret",
];
/// Public if valid; an invalid one may be the secret key by mistake.
const PUBLISHABLE: &str = "billing.stripe_publishable_key";
/// Shown without user, password and query.
const URLS: [&str; 2] = ["database.url", "nats.url"];
/// The default SQLite file.
const SQLITE_FILE: &str = "wakeful.db";

pub(super) struct Reader<'a> {
    pub(super) layers: &'a Layers,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(layers: &'a Layers) -> Self {
        Self { layers, problems: Vec::new() }
    }

    fn read<T>(
        &mut self,
        key: &'static str,
        accepts: impl Into<String>,
        parse: impl Fn(&Entry) -> Option<T>,
    ) -> T {
        let entry = self.layers.get(key);
        parse(entry).unwrap_or_else(|| {
            self.problems.push(wrong(key, entry, accepts.into()));
            parse(self.layers.default(key)).expect("defaults are valid")
        })
    }

    /// Reads a value that is never shown.
    fn read_secret<T>(
        &mut self,
        key: &'static str,
        accepts: &str,
        parse: impl Fn(&Entry) -> Option<T>,
    ) -> T {
        debug_assert!(SECRET.contains(&key), "{key} is missing in SECRET");
        self.read(key, accepts, parse)
    }

    pub(super) fn path(&mut self, key: &'static str) -> PathBuf {
        self.read(key, "the path of a folder", |entry| {
            text(entry).filter(|path| !path.is_empty()).map(PathBuf::from)
        })
    }

    /// The range may depend on other settings; the default is accepted in any case.
    pub(super) fn number<N>(&mut self, key: &'static str, range: RangeInclusive<N>) -> N
    where
        N: Copy + PartialOrd + TryFrom<i64> + std::fmt::Display,
    {
        let accepts = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(key, accepts, |entry| {
            integer(entry)
                .and_then(|number| N::try_from(number).ok())
                .filter(|number| entry.origin == Origin::Default || range.contains(number))
        })
    }

    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        self.read(key, "true or false", |entry| match &entry.value {
            Value::Boolean(value) => Some(*value),
            Value::String(text) if entry.is_plain_text() => text.parse().ok(),
            _ => None,
        })
    }

    /// `None` means that other settings decide.
    pub(super) fn automatic_flag(&mut self, key: &'static str) -> Option<bool> {
        self.read(key, "\"auto\", true or false", |entry| match &entry.value {
            Value::Boolean(value) => Some(Some(*value)),
            Value::String(text) if text == AUTOMATIC => Some(None),
            Value::String(text) if entry.is_plain_text() => text.parse().ok().map(Some),
            _ => None,
        })
    }

    /// Who may sign up. Without a mode, `signup.open` decides.
    pub(super) fn signup(&mut self) -> SignupMode {
        const DOMAINS: &str = "signup.domains";
        let open = self.flag("signup.open");
        let domains: Vec<String> =
            self.read(DOMAINS, "a list of domains such as example.com", |entry| {
                let domain = |text: &str| is_name(text).then(|| text.to_lowercase());
                list(entry)?.into_iter().map(domain).collect()
            });
        let accepts = "\"open\", \"invite\", \"domains\", \"closed\" or empty";
        let mode = self.read("signup.mode", accepts, |entry| match text(entry)? {
            "" if open => Some(SignupMode::Open),
            "" | "invite" => Some(SignupMode::Invite),
            "open" => Some(SignupMode::Open),
            "domains" => Some(SignupMode::Domains(domains.clone())),
            "closed" => Some(SignupMode::Closed),
            _ => None,
        });
        if mode == SignupMode::Domains(Vec::new()) {
            let accepts = "at least one domain if signup.mode is \"domains\"".to_owned();
            self.problems.push(wrong(DOMAINS, self.layers.get(DOMAINS), accepts));
        }
        mode
    }

    pub(super) fn address(&mut self, key: &'static str) -> SocketAddr {
        self.read(key, "an address and port such as 127.0.0.1:8080", |entry| {
            text(entry)?.parse().ok()
        })
    }

    pub(super) fn optional_address(&mut self, key: &'static str) -> Option<SocketAddr> {
        self.read(key, "an address and port such as 127.0.0.1:9090, or empty", |entry| {
            unless_empty(text(entry)?, |text| text.parse().ok())
        })
    }

    pub(super) fn networks(&mut self, key: &'static str) -> Vec<IpNet> {
        self.read(key, "a list of networks such as 10.0.0.0/8", |entry| {
            list(entry)?.into_iter().map(network).collect()
        })
    }

    pub(super) fn host_ports(&mut self, key: &'static str) -> Vec<(String, u16)> {
        let accepts = "a list of hosts and ports such as 192.168.1.1:443";
        self.read(key, accepts, |entry| list(entry)?.into_iter().map(host_port).collect())
    }

    /// `None` means that other settings decide.
    pub(super) fn egress(&mut self, key: &'static str) -> Option<Egress> {
        let accepts = "\"auto\", \"private\", \"public\" or a list of networks such as 10.0.0.0/8";
        self.read(key, accepts, |entry| match text(entry) {
            Some(AUTOMATIC) => Some(None),
            Some("private") => Some(Some(Egress::Private)),
            Some("public") => Some(Some(Egress::Public)),
            _ => {
                let networks: Vec<IpNet> =
                    list(entry)?.into_iter().map(network).collect::<Option<_>>()?;
                (!networks.is_empty()).then_some(Some(Egress::Networks(networks)))
            }
        })
    }

    pub(super) fn origins(&mut self, key: &'static str) -> Vec<String> {
        let accepts = "a list of origins such as https://status.example.com, without a path";
        self.read(key, accepts, |entry| {
            let one = |text: &str| {
                (web_url(text)?.origin().ascii_serialization() == text).then(|| text.to_owned())
            };
            list(entry)?.into_iter().map(one).collect()
        })
    }

    pub(super) fn public_url(&mut self, key: &'static str) -> Option<String> {
        let accepts =
            "a URL such as https://wakeful.example.com, without a trailing slash, or empty";
        self.read(key, accepts, |entry| {
            unless_empty(text(entry)?, |text| {
                let url = web_url(text)?;
                let plain =
                    url.query().is_none() && url.fragment().is_none() && !text.ends_with('/');
                plain.then(|| text.to_owned())
            })
        })
    }

    pub(super) fn database_url(&mut self, key: &'static str, data: &Path) -> DatabaseUrl {
        let accepts = "sqlite:PATH, postgres://user:password@host/database, or empty for SQLite in the data folder";
        self.read(key, accepts, |entry| {
            let text = text(entry)?;
            if text.is_empty() {
                return Some(DatabaseUrl::Sqlite(data.join(SQLITE_FILE)));
            }
            if let Some(path) = text.strip_prefix("sqlite:") {
                let path = path.strip_prefix("//").unwrap_or(path);
                let is_file = !path.is_empty() && !path.contains(":memory:");
                return is_file.then(|| DatabaseUrl::Sqlite(path.into()));
            }
            has_scheme(text, &["postgres", "postgresql"])
                .then(|| DatabaseUrl::Postgres(Secret::new(text)))
        })
    }

    pub(super) fn nats_url(&mut self, key: &'static str) -> Option<Secret> {
        let accepts = "nats://host:4222 or tls://host:4222, comma-separated if several, or empty";
        self.read(key, accepts, |entry| {
            unless_empty(text(entry)?, |text| {
                let fits = |url: &str| has_scheme(url.trim(), &["nats", "tls"]);
                text.split(',').all(fits).then(|| Secret::new(text))
            })
        })
    }

    pub(super) fn keys(&mut self, key: &'static str) -> Vec<Key> {
        let accepts =
            "32 bytes as base64 (`openssl rand -base64 32`), comma-separated if several, or empty";
        self.read_secret(key, accepts, |entry| {
            let one = |text: &str| {
                let bytes = BASE64.decode(text.trim().as_bytes()).ok()?;
                bytes.try_into().ok().map(Key::new)
            };
            match text(entry)? {
                "" => Some(Vec::new()),
                keys => keys.split(',').map(one).collect(),
            }
        })
    }

    pub(super) fn region(&mut self, key: &'static str) -> Option<Region> {
        self.read(key, "empty or a name of letters, digits, - and _ other than local", |entry| {
            unless_empty(text(entry)?, |text| {
                Region::parse(text).ok().filter(|region| !region.is_local())
            })
        })
    }

    pub(super) fn probe_name(&mut self, key: &'static str) -> Option<ProbeName> {
        self.read(key, "a name of letters, digits, - and _, or empty", |entry| {
            unless_empty(text(entry)?, |text| ProbeName::parse(text).ok())
        })
    }

    pub(super) fn token(&mut self, key: &'static str) -> Option<Secret> {
        let accepts = "a token of printable ASCII characters without spaces, or empty";
        self.read_secret(key, accepts, |entry| {
            unless_empty(text(entry)?, |text| {
                text.bytes().all(|byte| byte.is_ascii_graphic()).then(|| Secret::new(text))
            })
        })
    }

    pub(super) fn proxy(&mut self, key: &'static str) -> Option<Proxy> {
        let accepts =
            "a URL such as http://proxy.example:3128 or socks5://user:password@host:1080, or empty";
        let parse = |entry: &Entry| unless_empty(text(entry)?, |text| Proxy::parse(text).ok());
        self.read_secret(key, accepts, parse)
    }

    pub(super) fn secret(&mut self, key: &'static str) -> Option<Secret> {
        let parse = |entry: &Entry| unless_empty(text(entry)?, |text| Some(Secret::new(text)));
        self.read_secret(key, "a text", parse)
    }

    /// The slug of a status page; empty: none.
    pub(super) fn slug(&mut self, key: &'static str) -> String {
        self.read(key, "the slug of a status page (a-z, 0-9, -), or empty", |entry| {
            unless_empty(text(entry)?, |text| slug::parse(text).ok())
        })
        .unwrap_or_default()
    }

    pub(super) fn optional_text(&mut self, key: &'static str) -> Option<String> {
        self.read(key, "a text", |entry| unless_empty(text(entry)?, |text| Some(text.to_owned())))
    }

    pub(super) fn optional_file(&mut self, key: &'static str) -> Option<PathBuf> {
        self.read(key, "the path of a file, or empty", |entry| {
            unless_empty(text(entry)?, |text| Some(text.into()))
        })
    }

    /// A file that requires another one: both are set, or neither.
    pub(super) fn file_with(
        &mut self,
        key: &'static str,
        needed: bool,
        other: &str,
    ) -> Option<PathBuf> {
        let given = self.optional_file(key);
        if given.is_some() != needed {
            let accepts = format!("the path of a file if and only if {other} is set");
            let entry = self.layers.get(key);
            self.problems.push(wrong(key, entry, accepts));
        }
        given
    }

    pub(super) fn host(&mut self, key: &'static str) -> Option<String> {
        self.read(key, "a host name or address without a port, or empty", |entry| {
            unless_empty(text(entry)?, |text| {
                let is_host = text.parse::<IpAddr>().is_ok() || is_name(text);
                is_host.then(|| text.to_owned())
            })
        })
    }

    pub(super) fn mail_security(&mut self, key: &'static str) -> MailSecurity {
        self.read(key, "\"starttls\", \"tls\" or \"none\"", |entry| match text(entry)? {
            "none" => Some(MailSecurity::None),
            "starttls" => Some(MailSecurity::StartTls),
            "tls" => Some(MailSecurity::Tls),
            _ => None,
        })
    }

    pub(super) fn processor(&mut self, key: &'static str) -> PaymentProcessor {
        self.read(key, "\"sandbox\" or \"stripe\"", |entry| match text(entry)? {
            "sandbox" => Some(PaymentProcessor::Sandbox),
            "stripe" => Some(PaymentProcessor::Stripe),
            _ => None,
        })
    }

    pub(super) fn base_url(&mut self, key: &'static str) -> Url {
        self.read(key, "an http or https URL", |entry| web_url(text(entry)?))
    }

    /// Required by the payment processor it belongs to.
    pub(super) fn stripe_key(
        &mut self,
        key: &'static str,
        processor: PaymentProcessor,
    ) -> Option<Secret> {
        let given = self.secret(key);
        if given.is_none() && processor == PaymentProcessor::Stripe {
            let accepts = "the secret key of the account if billing.processor is \"stripe\"";
            let entry = self.layers.get(key);
            self.problems.push(wrong(key, entry, accepts.to_owned()));
        }
        given
    }

    /// It is public, so a secret key that was set here by mistake is rejected.
    pub(super) fn publishable_key(&mut self, key: &'static str) -> Option<String> {
        let accepts = "the publishable key of the Stripe account, which begins with pk_, or empty";
        self.read(key, accepts, |entry| match text(entry)?.trim() {
            "" => Some(None),
            key if key.starts_with("pk_") => Some(Some(key.to_owned())),
            _ => None,
        })
    }

    pub(super) fn mailbox(&mut self, key: &'static str) -> String {
        let accepts =
            "an email address, or a name and an address as in Wakeful <wakeful@example.com>";
        self.read(key, accepts, |entry| {
            let text = text(entry)?.trim();
            let (name, address) = match text.strip_suffix('>') {
                Some(text) => text.rsplit_once('<')?,
                None => ("", text),
            };
            let fits = EmailAddress::parse(address).is_ok()
                && !name.chars().any(|c| c.is_control() || "<>@,;".contains(c));
            fits.then(|| text.to_owned())
        })
    }

    pub(super) fn optional_email(&mut self, key: &'static str) -> Option<EmailAddress> {
        self.read(key, "an email address, or empty", |entry| {
            unless_empty(text(entry)?, |text| EmailAddress::parse(text).ok())
        })
    }
}

/// A value as it may be shown.
pub(super) fn shown(key: &str, value: &Value) -> String {
    match value.as_str() {
        Some("") => value.to_string(),
        _ if SECRET.contains(&key) => "(set)".to_owned(),
        None => value.to_string(),
        Some(urls) if URLS.contains(&key) || may_contain_password(urls) => {
            Value::from(urls.split(',').map(without_secrets).collect::<Vec<_>>().join(","))
                .to_string()
        }
        Some(_) => value.to_string(),
    }
}

/// The message contains no part of a secret's value, nor of a URL that failed to parse,
/// because the position of its password is unknown.
fn wrong(key: &'static str, entry: &Entry, accepts: String) -> Problem {
    let hidden = SECRET.contains(&key) || URLS.contains(&key) || key == PUBLISHABLE;
    let given = (!hidden).then(|| truncate(&entry.value.to_string()));
    Problem::Wrong { key, origin: entry.origin.clone(), accepts, given }
}

fn truncate(text: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 80;
    let line = text.replace('\n', " ");
    match line.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Whether a text is a URL with a user or a query, whatever it was meant for.
fn may_contain_password(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| rest.contains(['@', '?']))
}

fn without_secrets(text: &str) -> String {
    if text.starts_with("sqlite:") {
        return text.to_owned();
    }
    let Ok(url) = Url::parse(text.trim()) else { return "(set)".to_owned() };
    let who = if url.username().is_empty() && url.password().is_none() { "" } else { "…@" };
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let query = if url.query().is_some() { "?…" } else { "" };
    format!("{}://{who}{host}{port}{}{query}", url.scheme(), url.path())
}

fn text(entry: &Entry) -> Option<&str> {
    entry.value.as_str()
}

fn integer(entry: &Entry) -> Option<i64> {
    match &entry.value {
        Value::Integer(number) => Some(*number),
        Value::String(text) if entry.is_plain_text() => text.trim().parse().ok(),
        _ => None,
    }
}

fn list(entry: &Entry) -> Option<Vec<&str>> {
    match &entry.value {
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        Value::String(text) if entry.is_plain_text() => {
            Some(text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect())
        }
        _ => None,
    }
}

/// An empty text is accepted as `None`; any other must parse.
fn unless_empty<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() { Some(None) } else { parse(text).map(Some) }
}

/// A network, or a single address as a network.
fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// A name or an address, IPv6 in brackets, and a port.
fn host_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    is_host.then(|| (bare.unwrap_or(host).to_owned(), port))
}

fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok().filter(|_| has_scheme(text, &["http", "https"]))?;
    (url.username().is_empty() && url.password().is_none()).then_some(url)
}

fn has_scheme(text: &str, schemes: &[&str]) -> bool {
    Url::parse(text).is_ok_and(|url| {
        schemes.contains(&url.scheme()) && text[url.scheme().len()..].starts_with("://")
    })
}

fn is_name(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && !label.starts_with('-')
                && label.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        })
}
