//! Services that notifiers send to, on loopback: one file per kind. A fake is as strict as the
//! service is documented to be: an unknown field, a missing one or a text that is too long is
//! refused in the service's own words. It shows the conversation that its users would see.

mod alertmanager;
mod apprise;
mod discord;
mod google_chat;
mod gotify;
mod matrix;
mod mattermost;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod pushover;
mod signal;
mod slack;
mod teams;
mod telegram;
mod twilio;
mod webpush;

pub use twilio::{OPTED_OUT, UNREACHABLE};
pub use webpush::FakePush;

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use wakeful_core::notifications::notifier::Kind;

use crate::receiver::{Hook, read};

/// In the settings of every fake that has a secret, and nowhere else.
pub const SENTINEL: &str = "s3nt1nel";

pub struct FakeService {
    pub kind: Kind,
    pub url: String,
    room: Arc<Mutex<Room>>,
    _tasks: JoinSet<()>,
}

/// What the service has received.
#[derive(Default)]
struct Room {
    messages: Vec<Shown>,
    last_id: u64,
    troubles: VecDeque<Trouble>,
    requests: Vec<Hook>,
    /// Bodies with markup are refused.
    plain_only: bool,
}

/// A message, or an incident, as the users of the service see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub id: String,
    pub text: String,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    pub is_edited: bool,
    /// What identifies it for later requests.
    pub key: String,
    /// Of an incident, or of an emergency.
    pub state: String,
}

/// What the service does with the next request instead of accepting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Too many messages.
    Limited,
    /// The credentials are not accepted.
    TokenRejected,
    /// The receiver was deleted.
    Gone,
    /// It is accepted, but the connection ends before the response.
    ResponseLost,
}

/// A response: status, headers that each end with a line break, and body.
type Response = (u16, String, String);

fn respond(status: u16, body: &Value) -> Response {
    (status, String::new(), body.to_string())
}

struct Functions {
    settings: fn(&str) -> Value,
    answer: fn(&mut Room, &Hook) -> Response,
    trouble: fn(Trouble) -> Response,
}

fn functions(kind: Kind) -> Functions {
    macro_rules! of {
        ($module:ident) => {
            Functions {
                settings: $module::settings,
                answer: $module::answer,
                trouble: $module::trouble,
            }
        };
    }
    match kind {
        Kind::Slack => of!(slack),
        Kind::Discord => of!(discord),
        Kind::Telegram => of!(telegram),
        Kind::Teams => of!(teams),
        Kind::Ntfy => of!(ntfy),
        Kind::Pushover => of!(pushover),
        Kind::Gotify => of!(gotify),
        Kind::Pagerduty => of!(pagerduty),
        Kind::GoogleChat => of!(google_chat),
        Kind::Mattermost => of!(mattermost),
        Kind::Matrix => of!(matrix),
        Kind::Opsgenie => of!(opsgenie),
        Kind::Apprise => of!(apprise),
        Kind::Twilio => of!(twilio),
        Kind::Signal => of!(signal),
        Kind::Alertmanager => of!(alertmanager),
        Kind::Email | Kind::Webhook | Kind::Account | Kind::Webpush => {
            panic!("{kind} is not a service")
        }
    }
}

impl FakeService {
    pub async fn start(kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let room = Arc::new(Mutex::new(Room::default()));
        let shared = room.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let room = shared.clone();
                serving.spawn(async move { drop(serve(kind, stream, &room).await) });
                while serving.try_join_next().is_some() {}
            }
        });
        Self { kind, url, room, _tasks: tasks }
    }

    /// Valid settings of a notifier that sends here.
    pub fn settings(&self) -> Value {
        Self::settings_for(self.kind, &self.url)
    }

    /// Valid settings of a notifier that sends to this server.
    pub fn settings_for(kind: Kind, url: &str) -> Value {
        (functions(kind).settings)(url)
    }

    /// A request to save such a notifier.
    pub fn notifier(&self, name: &str) -> Value {
        let mut body = json!({"name": name, "type": self.kind.as_str()});
        body[self.kind.as_str()] = self.settings();
        body
    }

    pub fn conversation(&self) -> Vec<Shown> {
        self.room.lock().unwrap().messages.clone()
    }

    /// Everything that was received, also what was refused.
    pub fn requests(&self) -> Vec<Hook> {
        self.room.lock().unwrap().requests.clone()
    }

    /// What happens to the next request.
    pub fn next(&self, trouble: Trouble) {
        self.room.lock().unwrap().troubles.push_back(trouble);
    }

    /// From now on, markup is refused.
    pub fn refuse_markup(&self) {
        self.room.lock().unwrap().plain_only = true;
    }

    /// A user deletes all messages.
    pub fn delete_messages(&self) {
        self.room.lock().unwrap().messages.clear();
    }
}

async fn serve(kind: Kind, mut stream: TcpStream, room: &Mutex<Room>) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let response = {
        let mut room = room.lock().unwrap();
        room.requests.push(request.clone());
        let functions = functions(kind);
        match room.troubles.pop_front() {
            None => Some((functions.answer)(&mut room, &request)),
            Some(Trouble::ResponseLost) => {
                (functions.answer)(&mut room, &request);
                None
            }
            Some(trouble) => Some((functions.trouble)(trouble)),
        }
    };
    finish(stream, response).await
}

/// Sends a response, unless it is lost, and closes the connection.
async fn finish(mut stream: TcpStream, response: Option<Response>) -> std::io::Result<()> {
    if let Some((status, headers, body)) = response {
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Reply\r\ncontent-length: {length}\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
    }
    stream.shutdown().await
}

impl Room {
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn add(&mut self, id: &str, text: String, key: &str, reply_to: Option<&str>) {
        self.messages.push(Shown {
            id: id.to_owned(),
            text,
            reply_to: reply_to.map(str::to_owned),
            is_edited: false,
            key: key.to_owned(),
            state: String::new(),
        });
    }

    fn with_id(&mut self, id: &str) -> Option<&mut Shown> {
        self.messages.iter_mut().find(|message| message.id == id)
    }

    fn with_key(&mut self, key: &str) -> Option<&mut Shown> {
        self.messages.iter_mut().find(|message| message.key == key)
    }
}

impl Shown {
    fn edit(&mut self, text: String) {
        self.text = text;
        self.is_edited = true;
    }
}

/// Whether an object has all of the required fields, and no others than these.
fn fields(value: &Value, required: &[&str], optional: &[&str]) -> Result<(), String> {
    let object = value.as_object().ok_or("not an object")?;
    for name in required {
        if object.get(*name).is_none_or(Value::is_null) {
            return Err(format!("{name} is missing"));
        }
    }
    let is_known = |name: &&String| [required, optional].concat().contains(&name.as_str());
    match object.keys().find(|name| !is_known(name)) {
        Some(name) => Err(format!("unknown field {name}")),
        None => Ok(()),
    }
}

/// A text of at least one and at most so many characters.
fn text(value: &Value, max: usize) -> Result<String, String> {
    let text = value.as_str().ok_or("not a text")?;
    match text.chars().count() {
        0 => Err("an empty text".to_owned()),
        length if length > max => Err(format!("{length} characters, at most {max}")),
        _ => Ok(text.to_owned()),
    }
}

/// An http address, complete.
fn link(value: &Value) -> Result<(), String> {
    let url = text(value, 2_048)?;
    if url.starts_with("http") && !url.ends_with('…') {
        Ok(())
    } else {
        Err(format!("not a link: {url}"))
    }
}

fn has_json(request: &Hook) -> Result<(), String> {
    has_type(request, "application/json")
}

fn has_type(request: &Hook, expected: &str) -> Result<(), String> {
    let kind = request.header("content-type");
    let agent = request.header("user-agent");
    if !kind.starts_with(expected) {
        Err(format!("content type {kind}"))
    } else if !agent.starts_with("Wakeful/") {
        Err(format!("user agent {agent}"))
    } else {
        Ok(())
    }
}
