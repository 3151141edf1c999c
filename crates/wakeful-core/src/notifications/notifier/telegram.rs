//! Notification by Telegram: a bot, and the chat that it writes to.

use url::Url;

use super::service::{Ability, Descriptor, Field, made_of, no_rules, parameter};
use super::{BuiltinTemplate, Kind};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Telegram,
    label: "Telegram",
    fields: &[
        Field::text("telegram.token", "The token of your bot, from @BotFather.")
            .secret()
            .required()
            .parsed(token),
        Field::text("telegram.chat_id", "The number of the chat, or the @name of a channel.")
            .required()
            .parsed(chat),
        Field::text("telegram.thread_id", "The number of a topic in that chat.").parsed(|text| {
            made_of(text, 15, |c| c.is_ascii_digit(), "must be the number of a topic")
        }),
        Field::on_recovery("telegram.on_recovery"),
        Field::server(
            "telegram.api_url",
            "https://api.telegram.org",
            "The address of the server of the bot API.",
        ),
    ],
    can: &[Ability::Thread, Ability::Edit, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: Some(BuiltinTemplate::Telegram),
    from_url,
};

fn token(text: &str) -> Result<(), Invalid> {
    let why = "must be the token of a bot, such as 123456:ABC-def";
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (digits, rest) = text.split_once(':').ok_or_else(|| Invalid::new(why))?;
    made_of(digits, 20, |c| c.is_ascii_digit(), why)?;
    made_of(rest, 100, is_allowed, why)
}

fn chat(text: &str) -> Result<(), Invalid> {
    let why = "must be the number of a chat, or a name that begins with @";
    match text.strip_prefix('@') {
        Some(name) => made_of(name, 64, |c| c.is_ascii_alphanumeric() || c == '_', why),
        None => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            made_of(digits, 18, |c| c.is_ascii_digit(), why)
        }
    }
}

/// `https://api.telegram.org/bot<token>/sendMessage?chat_id=…`.
fn from_url(url: &Url) -> Vec<(&'static str, String)> {
    let token = url.path_segments().and_then(|mut parts| {
        parts.find_map(|part| part.strip_prefix("bot").map(|token| token.replace("%3A", ":")))
    });
    let values = [
        ("token", token),
        ("chat_id", parameter(url, "chat_id")),
        ("thread_id", parameter(url, "message_thread_id")),
        ("api_url", Some(url.origin().ascii_serialization())),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
