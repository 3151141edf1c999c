//! Twilio: a text message or a call for each phone number, each of them a form. The recipient of
//! a call acknowledges the alert by pressing 1.

use http::StatusCode;
use serde_json::{Value, json};
use wakeful_core::notifications::event;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::notifier::service::items;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, append};
use super::{address, check_token, delivered, failure, json as parse};

/// Characters of a text message, which is sent as two or three parts.
const MAX_BODY: usize = 320;
const ELLIPSIS: &str = "...";
/// A longer link would leave no room for the message.
const MAX_LINK: usize = 200;
/// Characters of what a call says, before they are escaped.
const MAX_SPOKEN: usize = 500;
/// Seconds until a call that nobody answers ends.
const RING_SECONDS: &str = "30";
/// The number is invalid, cannot receive messages, or its owner has opted out.
const WRONG_NUMBER: [u64; 3] = [21_211, 21_614, 21_610];
const WRONG_CREDENTIALS: u64 = 20_003;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    if scene.phase == Phase::TestEnds {
        return Ok(Vec::new());
    }
    let via = spec.get("via");
    let has_messages = via != "call";
    let has_calls = via != "sms" && is_called(scene);
    let resource = |name: &str| {
        let path = ["2010-04-01", "Accounts", spec.get("account_sid"), name];
        address(spec, "api_url", &path)
    };
    let call = |url, body: Value| {
        Call::post(url, Role::First, body).form().basic(spec.get("key"), spec.get("secret"))
    };
    let mut calls = Vec::new();
    for number in items(spec.get("to")) {
        if has_messages {
            let mut body = json!({"To": number, "Body": text(scene)});
            match spec.get("messaging_service_sid") {
                "" => body["From"] = json!(spec.get("from")),
                service => body["MessagingServiceSid"] = json!(service),
            }
            calls.push(call(resource("Messages.json")?, body).to(number));
        }
        if has_calls {
            let body = json!({"To": number, "From": spec.get("from"), "Timeout": RING_SECONDS,
                "Twiml": spoken(scene)});
            calls.push(call(resource("Calls.json")?, body).to(format!("{number} (call)")));
        }
    }
    Ok(calls)
}

/// Whether somebody may be woken up for it.
fn is_called(scene: &Scene<'_>) -> bool {
    let is_outage = scene.phase == Phase::Opens && scene.level() == Level::Critical;
    is_outage || scene.event.is(event::ESCALATED) || scene.event.is(event::TEST)
}

/// What happened and a link. In the alphabet of text messages if possible: with one character of
/// another, the message takes more than twice as many parts.
fn text(scene: &Scene<'_>) -> String {
    let link = scene.action_page().unwrap_or(scene.link);
    let link = if link.len() <= MAX_LINK { format!("\n{link}") } else { String::new() };
    let title = scene.title();
    let said = match scene.cause() {
        "" => title,
        cause => format!("{title}: {cause}"),
    };
    let said = said.replace(char::is_control, " ");
    let simple: String = said.chars().map(simplified).collect();
    let said = if simple.chars().all(is_gsm) { simple } else { said };
    cut(said, MAX_BODY - link.chars().count()) + &link
}

/// Shortened to so many characters. The usual ellipsis is not in the alphabet of text messages.
fn cut(text: String, max: usize) -> String {
    if text.chars().count() <= max {
        return text;
    }
    text.chars().take(max - ELLIPSIS.len()).collect::<String>() + ELLIPSIS
}

/// A character that looks nearly the same and is in the alphabet of text messages.
fn simplified(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '´' | '`' => '\'',
        '“' | '”' | '„' | '«' | '»' => '"',
        '–' | '—' | '‐' | '−' => '-',
        '…' | '·' | '•' => '.',
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        other => other,
    }
}

/// Whether a character is in the default alphabet, GSM 03.38, or its extension.
fn is_gsm(c: char) -> bool {
    const OTHERS: &str =
        "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà^{}\\[~]|€";
    c.is_ascii_alphanumeric() || OTHERS.contains(c)
}

/// What a call says, and which key it waits for.
fn spoken(scene: &Scene<'_>) -> String {
    let mut said = String::new();
    append(&mut said, &scene.title(), MAX_SPOKEN / 2, xml);
    if !scene.cause().is_empty() {
        said.push_str(". ");
        append(&mut said, scene.cause(), MAX_SPOKEN, xml);
    }
    match &scene.event.data.action_url {
        None => format!("<Response><Say>{said}.</Say></Response>"),
        Some(url) => {
            let mut action = String::new();
            append(&mut action, &format!("{url}/call"), usize::MAX, xml);
            format!(
                "<Response><Gather numDigits=\"1\" action=\"{action}\" method=\"POST\">\
                 <Say>{said}. Press 1 to acknowledge.</Say></Gather></Response>"
            )
        }
    }
}

/// A character in a document, between quotes or not.
fn xml(c: char, to: &mut String) {
    match c {
        '&' => to.push_str("&amp;"),
        '<' => to.push_str("&lt;"),
        '>' => to.push_str("&gt;"),
        '"' => to.push_str("&quot;"),
        '\'' => to.push_str("&apos;"),
        // No document may contain them.
        '\u{fffe}' | '\u{ffff}' => to.push(' '),
        other => to.push(other),
    }
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    let outcome = match body["code"].as_u64() {
        _ if reply.status.is_success() && body["sid"].is_string() => delivered(reply),
        _ if reply.status == StatusCode::TOO_MANY_REQUESTS => failure(reply),
        Some(code) if WRONG_NUMBER.contains(&code) => Outcome::Refused(reply.answer()),
        Some(WRONG_CREDENTIALS) => check_token(reply),
        _ => failure(reply),
    };
    outcome.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_in_the_alphabet_if_that_is_possible() {
        let simple = |text: &str| text.chars().map(simplified).collect::<String>();
        assert_eq!(simple("“Größe” – 5 €…"), "\"Größe\" - 5 €.");
        assert!(simple("“Größe” – 5 €…").chars().all(is_gsm));
        assert!(!simple("日本").chars().all(is_gsm));
        assert_eq!(cut("a".repeat(9), 8), "aaaaa...");
        assert_eq!(cut("a".repeat(8), 8), "aaaaaaaa");
    }

    #[test]
    fn what_is_said_cannot_leave_its_element() {
        let mut said = String::new();
        append(&mut said, "</Say><Dial>+1</Dial>\"'&\u{7}\u{ffff}", 500, xml);
        let expected = "&lt;/Say&gt;&lt;Dial&gt;+1&lt;/Dial&gt;&quot;&apos;&amp;  ";
        assert_eq!(said, expected);
    }
}
