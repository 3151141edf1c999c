//! Access tokens by client credentials (RFC 6749, section 4.4). A token is cached in memory for
//! the greater part of its life, for the team that fetched it only.

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use url::form_urlencoded::{Serializer, byte_serialize};
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::request;
use wakeful_core::monitors::spec::{ClientAuth, HttpVersion, Oauth2};
use wakeful_core::observation::{Contact, FaultKind};
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;

use super::decode::Encoding;
use super::error::ProbeError;
use super::http::{ConnectionMode, Request, Session};
use super::tls::Trust;
use super::{Deadline, Net, Stage, Trace};

const MAX_RESPONSE_BYTES: usize = 65_536;
/// The longest that a token is used.
const MAX_LIFE: Duration = Duration::from_secs(3_600);
/// If the server does not say how long a token is valid.
const DEFAULT_LIFE: Duration = Duration::from_secs(300);
/// How many tokens are cached.
const MAX_TOKENS: usize = 4_096;

/// When it is full, the team with the most tokens loses its own, so that no team can make others
/// fetch theirs again.
#[derive(Default)]
pub(crate) struct TokenCache(Mutex<HashMap<CacheKey, CachedToken>>);

type CacheKey = (TeamId, [u8; 32]);

struct CachedToken {
    token: Secret,
    until: Instant,
}

impl TokenCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<CacheKey, CachedToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &CacheKey) -> Option<Secret> {
        let tokens = self.lock();
        let cached = tokens.get(key).filter(|cached| cached.until > Instant::now());
        cached.map(|cached| cached.token.clone())
    }

    fn add(&self, key: CacheKey, token: Secret, life: Duration) {
        let now = Instant::now();
        let mut tokens = self.lock();
        if tokens.len() >= MAX_TOKENS {
            tokens.retain(|_, cached| cached.until > now);
        }
        if tokens.len() >= MAX_TOKENS {
            let mut counts: HashMap<TeamId, usize> = HashMap::new();
            for (team, _) in tokens.keys() {
                *counts.entry(*team).or_default() += 1;
            }
            let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(team, _)| team);
            tokens.retain(|(team, _), _| Some(*team) != most);
        }
        tokens.insert(key, CachedToken { token, until: now + life });
    }
}

/// The token of a check, cached unless it is to be renewed. The trace is that of the check: the
/// way to the token endpoint is the same, but for the address of the target.
pub(crate) async fn token(
    net: &Net,
    team: TeamId,
    oauth2: &Oauth2,
    trust: Trust,
    renew: bool,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<Secret, ProbeError> {
    let key = cache_key(team, oauth2);
    if !renew && let Some(token) = net.tokens().get(&key) {
        return Ok(token);
    }
    let began = Instant::now();
    let stage = std::mem::replace(&mut trace.stage, Stage::Authorizing);
    let fetched = fetch(net, oauth2, trust, deadline, trace).await;
    trace.aside += began.elapsed();
    let (token, life) = fetched?;
    trace.stage = stage;
    net.tokens().add(key, token.clone(), life);
    Ok(token)
}

fn cache_key(team: TeamId, oauth2: &Oauth2) -> CacheKey {
    let Oauth2 { token_url, client_id, client_secret, scope, audience, client_auth } = oauth2;
    let mut hash = Sha256::new();
    for part in [
        token_url.as_str(),
        client_id,
        client_secret.expose(),
        scope,
        audience,
        client_auth.as_str(),
    ] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    (team, hash.finalize().into())
}

async fn fetch(
    net: &Net,
    oauth2: &Oauth2,
    trust: Trust,
    deadline: Deadline,
    trace: &Trace,
) -> Result<(Secret, Duration), ProbeError> {
    let request = token_request(oauth2, trust)?;
    let (dial, profile) = (trace.dial.clone(), trace.profile.clone());
    let mut own = Trace { dial, profile, ..Trace::default() };
    let exchange = async {
        let (keep, version) = (ConnectionMode::Close, HttpVersion::Auto);
        let mut session = Session::open(net, &request, keep, version, deadline, &mut own).await?;
        let head = session.send(&request, &mut own).await?;
        let encoding = Encoding::of(&head.headers);
        let mut body = Vec::new();
        session.read(head.body, encoding, MAX_RESPONSE_BYTES, &mut body, &mut own).await?;
        Ok((head.status, body))
    };
    // The target needs a part of the time.
    let left = deadline.at().saturating_duration_since(Instant::now());
    let response = match tokio::time::timeout(left.mul_f64(0.7), exchange).await {
        Ok(response) => response,
        Err(_) => Err(own.timed_out(deadline)),
    };
    let (status, body) = response.map_err(no_token)?;
    let body: Option<Value> = serde_json::from_slice(&body).ok();
    let field = |name: &str| body.as_ref().and_then(|body| body.get(name));
    if !status.is_success() {
        let code = field("error").and_then(Value::as_str).filter(|code| is_error_code(code));
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        return Err(refused(&format!("status {}{code}", status.as_u16())));
    }
    let token = field("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| refused("the response has none"))?;
    let token = request::token(token).map_err(|_| refused("the one received cannot be sent"))?;
    let life = field("expires_in").and_then(|life| {
        life.as_f64().or_else(|| life.as_str().and_then(|text| text.parse().ok()))
    });
    let life = life.filter(|life| life.is_finite() && *life >= 0.0).map_or(DEFAULT_LIFE, |life| {
        Duration::try_from_secs_f64(life * 0.8).unwrap_or(MAX_LIFE).min(MAX_LIFE)
    });
    Ok((token, life))
}

/// Only codes of the kind that RFC 6749 has are shown.
fn is_error_code(code: &str) -> bool {
    (1..=40).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

fn token_request(oauth2: &Oauth2, trust: Trust) -> Result<Request, ProbeError> {
    let Oauth2 { token_url, client_id, client_secret, scope, audience, client_auth } = oauth2;
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    for (name, value) in [("scope", scope), ("audience", audience)] {
        if !value.is_empty() {
            form.append_pair(name, value);
        }
    }
    let mut headers = HeaderMap::new();
    match client_auth {
        ClientAuth::Post => {
            form.append_pair("client_id", client_id);
            form.append_pair("client_secret", client_secret.expose());
        }
        ClientAuth::Basic => {
            // Section 2.3.1: both are encoded as in a form first.
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encoded(client_id), encoded(client_secret.expose()));
            let value = format!("Basic {}", BASE64.encode(pair.as_bytes()));
            let mut value = HeaderValue::from_str(&value)
                .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let form_type = "application/x-www-form-urlencoded";
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form_type));
    Ok(Request {
        method: Method::POST,
        url: token_url.url().clone(),
        headers,
        body: Bytes::from(form.finish()),
        trust,
    })
}

/// A token endpoint that fails is a part of what is checked; what prevents us from asking it is
/// not.
fn no_token(error: ProbeError) -> ProbeError {
    match error {
        ProbeError::Down(contact, _, why) => {
            ProbeError::Down(contact, Reason::Auth, format!("no token: {why}"))
        }
        ours => ours,
    }
}

fn refused(why: &str) -> ProbeError {
    ProbeError::Down(Contact::Answered, Reason::Auth, format!("no token: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::time::Millis;

    #[tokio::test(start_paused = true)]
    async fn a_team_with_many_tokens_does_not_remove_those_of_others() {
        let cache = TokenCache::default();
        let team = |number: u8| TeamId::new(Millis(0), [number; 10]);
        let key = |number: usize| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_be_bytes());
            key
        };
        let token = || Secret::new("token".to_owned());
        cache.add((team(1), key(0)), token(), DEFAULT_LIFE);
        for number in 0..3 * MAX_TOKENS {
            cache.add((team(2), key(number)), token(), DEFAULT_LIFE);
            assert!(cache.lock().len() <= MAX_TOKENS);
        }
        assert!(cache.get(&(team(1), key(0))).is_some());
        assert!(cache.get(&(team(2), key(3 * MAX_TOKENS - 1))).is_some());
        assert!(cache.get(&(team(2), key(0))).is_none());
    }
}
