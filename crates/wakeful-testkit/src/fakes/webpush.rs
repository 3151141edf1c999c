//! A push service with browsers. It is as strict as RFC 8030, 8188, 8291 and 8292 allow: it
//! verifies the token of the sender, and the browsers decrypt what it passes on.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use wakeful_core::time::Millis;

use super::{Response, Trouble, fields, finish, link, text};
use crate::receiver::{Hook, read};

const AUTH: [u8; 16] = *b"auth secret 1234";
/// As in RFC 8030, section 7.2.
const MAX_BYTES: usize = 4_096;
const DAY_SECONDS: i64 = 86_400;

pub struct FakePush {
    pub url: String,
    service: Arc<Mutex<Service>>,
    _tasks: JoinSet<()>,
}

struct Service {
    url: String,
    /// When the service was started.
    now: Millis,
    max_bytes: usize,
    browsers: HashMap<String, Browser>,
    /// What was refused, and why.
    refused: Vec<String>,
}

struct Browser {
    key: PrivateKey,
    troubles: VecDeque<Trouble>,
    messages: Vec<Pushed>,
}

/// A message that a browser has received.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// What the service worker gets.
    pub data: Value,
    pub urgency: String,
    pub topic: String,
    /// Who has sent it, as the token says.
    pub contact: String,
}

impl FakePush {
    pub async fn start(now: Millis) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = Service {
            url: url.clone(),
            now,
            max_bytes: MAX_BYTES,
            browsers: HashMap::new(),
            refused: Vec::new(),
        };
        let service = Arc::new(Mutex::new(service));
        let shared = service.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let service = shared.clone();
                serving.spawn(async move { drop(serve(stream, &service).await) });
                while serving.try_join_next().is_some() {}
            }
        });
        Self { url, service, _tasks: tasks }
    }

    /// Subscribes a browser: what it passes to `webpush/subscribe`.
    pub fn subscribe(&self, name: &str) -> Value {
        let key = PrivateKey::generate(&ECDH_P256).unwrap();
        let public = BASE64URL_NOPAD.encode(key.compute_public_key().unwrap().as_ref());
        let browser = Browser { key, troubles: VecDeque::new(), messages: Vec::new() };
        self.service.lock().unwrap().browsers.insert(name.to_owned(), browser);
        json!({"endpoint": format!("{}/{name}", self.url), "expirationTime": null,
            "keys": {"p256dh": public, "auth": BASE64URL_NOPAD.encode(&AUTH)}})
    }

    /// Everything that a browser has received.
    pub fn messages(&self, name: &str) -> Vec<Pushed> {
        let service = self.service.lock().unwrap();
        assert_eq!(service.refused, [""; 0], "refused by the push service");
        service.browsers[name].messages.clone()
    }

    /// What happens to the next message to a browser.
    pub fn next(&self, name: &str, trouble: Trouble) {
        let mut service = self.service.lock().unwrap();
        service.browsers.get_mut(name).unwrap().troubles.push_back(trouble);
    }

    /// Refuses longer messages from now on.
    pub fn limit(&self, max_bytes: usize) {
        self.service.lock().unwrap().max_bytes = max_bytes;
    }
}

async fn serve(mut stream: TcpStream, service: &Mutex<Service>) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let response = service.lock().unwrap().answer(&request);
    finish(stream, response).await
}

fn respond(status: u16, headers: &str) -> Response {
    (status, headers.to_owned(), String::new())
}

impl Service {
    fn answer(&mut self, request: &Hook) -> Option<Response> {
        let name = request.path.trim_start_matches('/').to_owned();
        let Some(browser) = self.browsers.get_mut(&name) else { return Some(respond(404, "")) };
        let trouble = browser.troubles.pop_front();
        match trouble {
            Some(Trouble::Limited) => return Some(respond(429, "retry-after: 90\r\n")),
            Some(Trouble::TokenRejected) => return Some(respond(403, "")),
            Some(Trouble::Gone) => return Some(respond(410, "")),
            Some(Trouble::ResponseLost) | None => {}
        }
        if request.bytes.len() > self.max_bytes {
            return Some(respond(413, ""));
        }
        let pushed = match accept(request, &self.url, self.now, &browser.key) {
            Ok(pushed) => pushed,
            Err(why) => {
                self.refused.push(why.clone());
                return Some((400, String::new(), why));
            }
        };
        browser.messages.push(pushed);
        let location = format!("location: {}/m/{}\r\n", self.url, browser.messages.len());
        trouble.is_none().then(|| respond(201, &location))
    }
}

fn accept(request: &Hook, url: &str, now: Millis, key: &PrivateKey) -> Result<Pushed, String> {
    let header = |name: &str, is_valid: &dyn Fn(&str) -> bool| {
        let value = request.header(name).to_owned();
        if is_valid(&value) { Ok(value) } else { Err(format!("header {name}: {value}")) }
    };
    header("ttl", &|text| text == "86400")?;
    header("content-encoding", &|text| text == "aes128gcm")?;
    header("user-agent", &|text| text.starts_with("Wakeful/"))?;
    let levels = ["very-low", "low", "normal", "high"];
    let urgency = header("urgency", &|text| levels.contains(&text))?;
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let topic = header("topic", &|text| text.len() == 32 && text.chars().all(is_safe))?;
    if request.method != "POST" {
        return Err(format!("method {}", request.method));
    }
    let contact = verify(request.header("authorization"), url, now)?;
    let data = decrypt(&request.bytes, key).ok_or("it cannot be decrypted")?;
    if data.len() > 3_000 {
        return Err(format!("{} bytes of text", data.len()));
    }
    let data: Value = serde_json::from_slice(&data).map_err(|error| error.to_string())?;
    fields(&data, &["title", "body", "tag", "url", "silent", "urgent"], &["action"])?;
    text(&data["title"], 120)?;
    link(&data["url"])?;
    Ok(Pushed { data, urgency, topic, contact })
}

/// RFC 8292: the contact in the token.
fn verify(authorization: &str, url: &str, now: Millis) -> Result<String, String> {
    let parts = authorization.strip_prefix("vapid t=").and_then(|rest| rest.split_once(", k="));
    let (token, key) = parts.ok_or("no VAPID")?;
    let decode = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| "no base64url");
    let (signed, signature) = token.rsplit_once('.').ok_or("no token")?;
    signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(key)?)
        .verify(signed.as_bytes(), &decode(signature)?)
        .map_err(|_| "the signature is wrong")?;
    let (head, claims) = signed.split_once('.').ok_or("no token")?;
    let json = |part: &str| -> Result<Value, String> {
        serde_json::from_slice(&decode(part)?).map_err(|error| error.to_string())
    };
    if json(head)? != json!({"typ": "JWT", "alg": "ES256"}) {
        return Err("not ES256".to_owned());
    }
    let claims = json(claims)?;
    fields(&claims, &["aud", "exp", "sub"], &[])?;
    let left = claims["exp"].as_i64().unwrap_or_default() - now.0 / 1_000;
    if claims["aud"] != url || !(1..=DAY_SECONDS).contains(&left) {
        return Err(format!("not valid here and now: {claims}"));
    }
    let contact = text(&claims["sub"], 255)?;
    if contact.starts_with("mailto:") { Ok(contact) } else { Err(contact) }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> Option<[u8; N]> {
    let mut derived = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(secret);
    key.expand(info, Length(N)).ok()?.fill(&mut derived).ok()?;
    Some(derived)
}

/// RFC 8188 and 8291, as a browser does it.
fn decrypt(body: &[u8], key: &PrivateKey) -> Option<Vec<u8>> {
    let (salt, rest) = body.split_at_checked(16)?;
    let (size, rest) = rest.split_at_checked(4)?;
    let (length, rest) = rest.split_first()?;
    let (sender, record) = rest.split_at_checked(usize::from(*length))?;
    if u32::from_be_bytes(size.try_into().ok()?) != 4_096 || record.len() > 4_096 {
        return None;
    }
    let public = key.compute_public_key().ok()?;
    let info: &[&[u8]] = &[b"WebPush: info\0", public.as_ref(), sender];
    let sender = UnparsedPublicKey::new(&ECDH_P256, sender);
    let material: [u8; 32] =
        agree(key, sender, (), |secret| derive(&AUTH, secret, info).ok_or(())).ok()?;
    let content_key: [u8; 16] = derive(salt, &material, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; 12] = derive(salt, &material, &[b"Content-Encoding: nonce\0"])?;
    let content_key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &content_key).ok()?);
    let mut record = record.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let plain = content_key.open_in_place(nonce, Aad::empty(), &mut record).ok()?;
    let end = plain.iter().rposition(|byte| *byte != 0).filter(|end| plain[*end] == 2)?;
    Some(plain[..end].to_vec())
}
