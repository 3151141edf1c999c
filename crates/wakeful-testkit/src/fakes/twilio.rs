//! The REST API of Twilio: messages and calls. The last digits of a number decide what happens
//! to it, as those of Twilio's test numbers do.

use data_encoding::BASE64;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::{Response, Room, SENTINEL, Trouble, has_type, respond};
use crate::receiver::Hook;

const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";
const KEY: &str = "SK0123456789abcdef0123456789abcdef";
/// A number that has opted out.
pub const OPTED_OUT: &str = "+15005550610";
/// A number whose network is down.
pub const UNREACHABLE: &str = "+15005550503";

pub(super) fn settings(url: &str) -> Value {
    json!({"account_sid": ACCOUNT, "key": KEY, "secret": format!("{SENTINEL}-secret"),
        "from": "+15005550001", "to": "+15005550006", "via": "sms", "api_url": url})
}

fn error(status: u16, code: u64, message: &str) -> Response {
    respond(status, &json!({"code": code, "message": message, "status": status}))
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => error(429, 20_429, "Too Many Requests"),
        Trouble::TokenRejected => error(401, 20_003, "Authenticate"),
        Trouble::Gone => error(400, 21_610, "Attempt to send to unsubscribed recipient"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let credentials = BASE64.encode(format!("{KEY}:{SENTINEL}-secret").as_bytes());
    if request.header("authorization") != format!("Basic {credentials}") {
        return error(401, 20_003, "Authenticate");
    }
    let base = format!("/2010-04-01/Accounts/{ACCOUNT}/");
    let sent = match (request.method.as_str(), request.path.strip_prefix(&base)) {
        ("POST", Some("Messages.json")) => message(room, request),
        ("POST", Some("Calls.json")) => call(room, request),
        _ => return error(404, 20_404, "The requested resource was not found"),
    };
    match sent {
        Ok(sid) => respond(201, &json!({"sid": sid, "status": "queued"})),
        Err((status, code, why)) => error(status, code, &why),
    }
}

type Sent = Result<String, (u16, u64, String)>;

fn wrong(why: impl Into<String>) -> (u16, u64, String) {
    (400, 21_000, why.into())
}

fn form(request: &Hook, required: &[&str]) -> Result<BTreeMap<String, String>, String> {
    has_type(request, "application/x-www-form-urlencoded")?;
    let pairs = url::form_urlencoded::parse(request.body.as_bytes()).into_owned();
    let fields: BTreeMap<String, String> = pairs.collect();
    if let Some(name) = fields.keys().find(|name| !required.contains(&name.as_str())) {
        return Err(format!("unknown field {name}"));
    }
    match required.iter().find(|name| fields.get(**name).is_none_or(String::is_empty)) {
        Some(name) => Err(format!("{name} is missing")),
        None => Ok(fields),
    }
}

fn reach(number: &str) -> Result<(), (u16, u64, String)> {
    match number {
        OPTED_OUT => Err((400, 21_610, "unsubscribed recipient".to_owned())),
        UNREACHABLE => Err((503, 20_503, "Service Unavailable".to_owned())),
        _ if number.starts_with('+') => Ok(()),
        _ => Err((400, 21_211, "invalid 'To' Phone Number".to_owned())),
    }
}

fn message(room: &mut Room, request: &Hook) -> Sent {
    let fields = form(request, &["To", "From", "Body"]).map_err(wrong)?;
    let (to, body) = (&fields["To"], &fields["Body"]);
    reach(to)?;
    if body.chars().count() > 320 {
        return Err((400, 21_617, "the message is too long".to_owned()));
    }
    let sid = format!("SM{:032x}", room.next_id());
    room.add(&sid, body.clone(), to, None);
    Ok(sid)
}

fn call(room: &mut Room, request: &Hook) -> Sent {
    let fields = form(request, &["To", "From", "Timeout", "Twiml"]).map_err(wrong)?;
    let (to, twiml) = (&fields["To"], &fields["Twiml"]);
    reach(to)?;
    if twiml.chars().count() > 4_000 {
        return Err(wrong("the TwiML is too long"));
    }
    let said = element(twiml, "Say").ok_or_else(|| wrong("Say is missing"))?;
    if said.contains(['<', '>', '"']) {
        return Err(wrong("what is said is not escaped"));
    }
    let sid = format!("CA{:032x}", room.next_id());
    room.add(&sid, said.to_owned(), to, None);
    if let Some(shown) = room.with_id(&sid) {
        shown.state = "call".to_owned();
    }
    Ok(sid)
}

fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(text)
}
