//! Notification by webhook: its URL, headers, template and signing secrets.
//! After a rotation the old secret continues to sign for a day, so that a
//! receiver can switch at any time.

use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use url::Url;
use zeroize::Zeroizing;

use crate::Invalid;
use crate::monitors::spec::{Headers, HttpUrl};
use crate::notifications::notifier::builtin_template::BuiltinTemplate;
use crate::secret::Secret;
use crate::template::{MAX_TEMPLATE_LENGTH, UserTemplate};
use crate::time::Millis;

/// How long a rotated secret continues to sign.
const OLD_SECRET_TTL: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSpec {
    pub url: HttpUrl,
    pub headers: Headers,
    pub template: Template,
    pub keys: Keys,
}

/// The encrypted part as it is stored.
#[derive(Serialize, Deserialize)]
struct Sealed {
    url: HttpUrl,
    headers: Headers,
    secret: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old_secret: Option<(String, i64)>,
}

impl WebhookSpec {
    /// Removes what only those who may edit the notifier may see. The URL of many services
    /// contains their secret.
    pub(super) fn redact(&mut self) {
        self.url = self.url.origin();
        self.headers = Headers::default();
    }

    pub(super) fn sealed_part(&self) -> Secret {
        let sealed = Sealed {
            url: self.url.clone(),
            headers: self.headers.clone(),
            secret: self.keys.current.expose().to_owned(),
            old_secret: self
                .keys
                .old
                .as_ref()
                .map(|(old, until)| (old.expose().to_owned(), until.0)),
        };
        Secret::new(serde_json::to_string(&sealed).expect("texts and a number"))
    }

    pub(super) fn from_parts(open: &str, sealed: &Secret) -> Option<Self> {
        let template = serde_json::from_str(open).ok()?;
        let Sealed { url, headers, secret, old_secret } =
            serde_json::from_str(sealed.expose()).ok()?;
        let old = match old_secret {
            Some((old, until)) => Some((SigningSecret::parse(&old).ok()?, Millis(until))),
            None => None,
        };
        let keys = Keys { current: SigningSecret::parse(&secret).ok()?, old };
        Some(Self { url, headers, template, keys })
    }
}

/// The URL of a webhook. A receiver that requires a password gets it in a
/// header.
pub fn url(text: &str) -> Result<HttpUrl, Invalid> {
    HttpUrl::parse(text).map_err(|why| match Url::parse(text.trim()) {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => Invalid::new(
            "must not contain a user name or password; send an Authorization header instead",
        ),
        _ => why,
    })
}

/// The user's own headers, except for those that Wakeful sets.
pub fn headers(text: &str) -> Result<Headers, Invalid> {
    let headers = Headers::parse(text)?;
    for (name, _) in headers.iter() {
        let name = name.to_ascii_lowercase();
        if name.starts_with("webhook-") || ["host", "connection"].contains(&name.as_str()) {
            return Err(Invalid::new(format!("must not set {name}: Wakeful does")));
        }
    }
    Ok(headers)
}

/// The secret that signs, and the previous one while it is still valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    pub current: SigningSecret,
    pub old: Option<(SigningSecret, Millis)>,
}

impl Keys {
    pub fn new(current: SigningSecret) -> Self {
        Self { current, old: None }
    }

    /// The keys after a change: of `given`, or the old ones, or newly issued.
    pub fn changed(
        given: Option<SigningSecret>,
        old: Option<&Self>,
        issue: impl FnOnce() -> SigningSecret,
    ) -> Self {
        match (given, old) {
            (Some(given), Some(old)) if old.current == given => old.clone(),
            (None, Some(old)) => old.clone(),
            (Some(given), _) => Self::new(given),
            (None, None) => Self::new(issue()),
        }
    }

    #[must_use]
    pub fn rotated(self, new: SigningSecret, now: Millis) -> Self {
        Self { current: new, old: Some((self.current, now.after(OLD_SECRET_TTL))) }
    }

    /// The secrets that sign now, the current one first.
    pub fn signing(&self, now: Millis) -> impl Iterator<Item = &SigningSecret> {
        let old = self.old.as_ref().filter(|(_, until)| now < *until).map(|(old, _)| old);
        std::iter::once(&self.current).chain(old)
    }
}

/// `whsec_` and the base64 of 24 to 64 bytes, as Standard Webhooks specifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret(Secret);

impl SigningSecret {
    const PREFIX: &str = "whsec_";

    pub fn issue(random: [u8; 32]) -> Self {
        Self(Secret::new(format!("{}{}", Self::PREFIX, BASE64.encode(&random))))
    }

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let bytes =
            text.strip_prefix(Self::PREFIX).and_then(|body| BASE64.decode(body.as_bytes()).ok());
        match bytes {
            Some(bytes) if (24..=64).contains(&bytes.len()) => Ok(Self(Secret::new(text))),
            _ => Err(Invalid::new("must be whsec_ and the base64 of 24 to 64 random bytes")),
        }
    }

    /// The key bytes.
    pub fn key(&self) -> Zeroizing<Vec<u8>> {
        let body = self.0.expose().strip_prefix(Self::PREFIX).unwrap_or_default();
        Zeroizing::new(BASE64.decode(body.as_bytes()).unwrap_or_default())
    }

    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// The format of the message: Wakeful's own, the one of a known receiver, or a
/// template of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    Standard,
    Builtin(BuiltinTemplate),
    Custom(UserTemplate),
}

impl Template {
    /// A custom template is not validated here because that takes a while.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.trim().is_empty() {
            return Ok(Self::Standard);
        }
        if let Some(builtin) = BuiltinTemplate::parse(text) {
            return Ok(Self::Builtin(builtin));
        }
        if text.chars().count() > MAX_TEMPLATE_LENGTH {
            return Err(Invalid::new(format!(
                "must have at most {MAX_TEMPLATE_LENGTH} characters"
            )));
        }
        if text.contains('\0') {
            return Err(Invalid::new("must not contain the NUL character"));
        }
        // A word that names no built-in template is a typo, and would send no
        // information.
        if text.contains("{{") || text.contains("{%") {
            Ok(Self::Custom(UserTemplate::stored(text)))
        } else {
            Err(Invalid::new(format!(
                "must be empty, one of {}, or a template of your own with {{{{ text }}}} in it",
                BuiltinTemplate::names()
            )))
        }
    }

    /// The user's own template.
    pub fn custom(&self) -> Option<&UserTemplate> {
        match self {
            Self::Custom(template) => Some(template),
            Self::Standard | Self::Builtin(_) => None,
        }
    }

    /// As stored. A custom template is validated before it is used.
    fn stored(text: &str) -> Self {
        match BuiltinTemplate::parse(text) {
            Some(builtin) => Self::Builtin(builtin),
            None if text.trim().is_empty() => Self::Standard,
            None => Self::Custom(UserTemplate::stored(text)),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standard => "",
            Self::Builtin(builtin) => builtin.as_str(),
            Self::Custom(template) => template.as_str(),
        })
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self::stored(&text))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn spec(address: &str) -> WebhookSpec {
        WebhookSpec {
            url: url(address).expect("an address"),
            headers: headers("Authorization: Bearer x").expect("headers"),
            template: Template::Builtin(BuiltinTemplate::Slack),
            keys: Keys::new(SigningSecret::issue([1; 32]))
                .rotated(SigningSecret::issue([2; 32]), Millis(5)),
        }
    }

    #[test]
    fn after_a_rotation_both_secrets_sign_for_a_day() {
        let keys = spec("https://example.com/").keys;
        let signing = |now| keys.signing(Millis(now)).map(|key| key.key()[0]).collect::<Vec<_>>();
        assert_eq!(signing(5), [2, 1]);
        assert_eq!(signing(86_400_004), [2, 1]);
        assert_eq!(signing(86_400_005), [2]);
    }

    #[test]
    fn a_signing_secret_has_24_to_64_bytes_after_its_prefix() {
        let issued = SigningSecret::issue([7; 32]);
        assert_eq!(SigningSecret::parse(issued.expose()), Ok(issued.clone()));
        assert_eq!(issued.key().as_slice(), [7; 32]);
        assert_eq!(format!("{issued:?}"), "SigningSecret(Secret(…))");
        let body = |bytes: usize| format!("whsec_{}", BASE64.encode(&vec![1; bytes]));
        for (text, good) in [
            (body(24), true),
            (body(64), true),
            (body(23), false),
            (body(65), false),
            ("whsec_".to_owned(), false),
            (BASE64.encode(&[1; 32]), false),
            ("whsec_not base64".to_owned(), false),
        ] {
            assert_eq!(SigningSecret::parse(&text).is_ok(), good, "{text}");
        }
    }

    #[test]
    fn a_template_is_empty_builtin_or_custom() {
        assert_eq!(Template::parse("  "), Ok(Template::Standard));
        assert_eq!(
            Template::parse("Uptime-Kuma"),
            Ok(Template::Builtin(BuiltinTemplate::UptimeKuma))
        );
        let own = r#"{"text": {{ text | tojson }}}"#;
        assert_eq!(Template::parse(own), Ok(Template::Custom(UserTemplate::stored(own))));
        assert!(Template::parse("slak").is_err());
        assert!(Template::parse(&"{{ text }}".repeat(2_000)).is_err());
        for builtin in BuiltinTemplate::ALL {
            assert_eq!(BuiltinTemplate::parse(builtin.as_str()), Some(*builtin));
        }
    }

    #[test]
    fn headers_that_wakeful_sets_are_refused() {
        assert!(headers("X-Token: 1\nUser-Agent: me").is_ok());
        for text in
            ["webhook-id: 1", "Webhook-Signature: v1,x", "Host: other.example", "Connection: close"]
        {
            assert!(headers(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_is_not_allowed_in_the_url() {
        let why = url("https://u:p@example.com/").expect_err("refused");
        assert!(why.0.contains("Authorization"), "{why}");
        assert!(url("ftp://example.com/").is_err());
    }
}
